internal import CLibRTMP
internal import CRTMPSocket
internal import FLV
internal import MediaCore

/// A librtmp handle, of which the safe part is used: handshake, the `connect` that comes with it, and chunking.
///
/// One attempt to publish, one handle, one thread. What librtmp gets wrong is kept from it: it never reads after the
/// handshake, never sees a stream number (it would send on closing), and gets each message in a buffer that it may
/// overwrite.
@safe final class RTMPHandle {
    /// Bytes that must be writable in front of every body: librtmp puts the chunk header there.
    static let headroom = Int(RTMP_MAX_HEADER_SIZE)

    /// What librtmp takes for its descriptor. Not -1, which would mean "not connected"; closing it does nothing.
    static let noDescriptor: CInt = -2

    /// Chunk streams for what is sent; audio and video have their own, so that each one's timestamps only rise.
    enum ChunkStream: Int {
        case control = 2
        case command = 3
        case audio = 4
        case data = 5
        case video = 6
    }

    private struct LastMessage {
        var timestamp: UInt32
        var byteCount: Int
        var type: RTMPMessageType
    }

    private let rtmp: UnsafeMutablePointer<RTMP>
    private let socket: RTMPSocket
    private var last = [LastMessage?](repeating: nil, count: 8)

    init(socket: RTMPSocket) {
        self.socket = socket
        unsafe rtmp = RTMP_Alloc()!
        unsafe RTMP_Init(rtmp)
        unsafe rtmp.pointee.Link.protocol = RTMP_FEATURE_WRITE
        unsafe rtmp.pointee.m_sb.sb_socket = Self.noDescriptor
    }

    deinit {
        unsafe rtmp.pointee.m_sb.sb_socket = -1
        unsafe RTMP_Close(rtmp)
        unsafe RTMP_Free(rtmp)
    }

    /// Exchanges RTMP's handshake and sends `connect`; ends at the socket's deadline.
    func handshake(connect body: [UInt8]) throws(PublishError) {
        var padded = [UInt8](repeating: 0, count: Self.headroom) + body
        let isDone = unsafe padded.withUnsafeMutableBytes {
            var packet = unsafe packet(
                .commandAMF0, on: .command, streamID: 0, timestamp: 0, body: $0.baseAddress! + Self.headroom,
                byteCount: body.count)
            return withSocket { unsafe RTMP_Connect1(rtmp, &packet) != 0 }
        }
        guard isDone else { throw socket.failure(during: "the RTMP handshake") }
    }

    /// What librtmp has read beyond the handshake: the first bytes for our own reader.
    func takeEarlyBytes() -> [UInt8] {
        let count = unsafe max(0, Int(rtmp.pointee.m_sb.sb_size))
        guard count > 0 else { return [] }
        unsafe rtmp.pointee.m_sb.sb_size = 0
        return unsafe [UInt8](UnsafeRawBufferPointer(start: rtmp.pointee.m_sb.sb_start, count: count))
    }

    /// Announces a chunk size and uses it from then on.
    func setChunkSize(_ size: Int) throws(PublishError) {
        precondition((1...0xff_ffff).contains(size), "an RTMP chunk has 1 to 16,777,215 bytes")
        try send(.setChunkSize, on: .control, word: UInt32(size))
        unsafe rtmp.pointee.m_outChunkSize = CInt(size)
    }

    /// Sends a control message of one big-endian word.
    func send(_ type: RTMPMessageType, on stream: ChunkStream, word: UInt32) throws(PublishError) {
        try send(type, on: stream, body: Self.bytes(of: word))
    }

    private static func bytes(of word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }

    /// Answers a ping (user control event 7) with its own number.
    func sendPong(_ number: UInt32) throws(PublishError) {
        try send(.userControl, on: .control, body: [0, 7] + Self.bytes(of: number))
    }

    /// Sends a message that is not media; it is copied.
    func send(
        _ type: RTMPMessageType, on stream: ChunkStream, streamID: UInt32 = 0, timestamp: UInt32 = 0, body: [UInt8]
    ) throws(PublishError) {
        var padded = [UInt8](repeating: 0, count: Self.headroom) + body
        let isSent = unsafe padded.withUnsafeMutableBytes {
            unsafe send(
                type, on: stream, streamID: streamID, timestamp: timestamp, body: $0.baseAddress! + Self.headroom,
                byteCount: body.count)
        }
        guard isSent else { throw socket.failure(during: "sending to the server") }
    }

    /// Sends a message from a buffer with `headroom` writable bytes before `body`. Both are overwritten.
    ///
    /// Timestamps on one chunk stream must not fall.
    /// - Returns: false on failure, which the socket has recorded.
    func send(
        _ type: RTMPMessageType, on stream: ChunkStream, streamID: UInt32, timestamp: UInt32,
        body: UnsafeMutableRawPointer, byteCount: Int
    ) -> Bool {
        var packet = unsafe packet(
            type, on: stream, streamID: streamID, timestamp: timestamp, body: body, byteCount: byteCount)
        return withSocket { unsafe RTMP_SendPacket(rtmp, &packet, 0) != 0 }
    }

    /// Lets librtmp read from and write to our socket.
    private func withSocket(_ body: () -> Bool) -> Bool {
        unsafe upcast_rtmp_use_socket(socket.raw)
        defer { upcast_rtmp_use_socket(nil) }
        return body()
    }

    private func packet(
        _ type: RTMPMessageType, on stream: ChunkStream, streamID: UInt32, timestamp: UInt32,
        body: UnsafeMutableRawPointer, byteCount: Int
    ) -> RTMPPacket {
        var packet = unsafe RTMPPacket()
        unsafe packet.m_headerType = headerType(on: stream, type, timestamp, byteCount)
        unsafe packet.m_nChannel = CInt(stream.rawValue)
        unsafe packet.m_packetType = type.rawValue
        unsafe packet.m_nTimeStamp = timestamp
        unsafe packet.m_nInfoField2 = Int32(bitPattern: streamID)
        unsafe packet.m_nBodySize = UInt32(byteCount)
        unsafe packet.m_body = body.assumingMemoryBound(to: CChar.self)
        last[stream.rawValue] = LastMessage(timestamp: timestamp, byteCount: byteCount, type: type)
        return unsafe packet
    }

    /// The first message of a chunk stream needs a whole header; later ones a timestamp relative to the one before, but
    /// where timestamp, size and type repeat, librtmp would leave the delta out, which means "the same delta again".
    private func headerType(
        on stream: ChunkStream, _ type: RTMPMessageType, _ timestamp: UInt32, _ byteCount: Int
    ) -> UInt8 {
        guard let previous = last[stream.rawValue] else { return UInt8(RTMP_PACKET_SIZE_LARGE) }
        let repeats = timestamp == previous.timestamp && byteCount == previous.byteCount && type == previous.type
        // Deltas are modulo 2^32, so that the timestamps' own wrap after 49.7 days is a small step.
        let isStepBack = timestamp &- previous.timestamp > UInt32.max / 2
        // Commands and control messages are rare, and their stream number changes.
        let isMedia = stream == .audio || stream == .video
        return UInt8(repeats || isStepBack || !isMedia ? RTMP_PACKET_SIZE_LARGE : RTMP_PACKET_SIZE_MEDIUM)
    }
}
