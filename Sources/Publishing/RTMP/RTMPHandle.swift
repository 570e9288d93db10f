internal import CLibRTMP
internal import CRTMPSocket
internal import FLV
internal import MediaCore

/// The safe subset of librtmp: handshake, the `connect` within it, and chunking.
///
/// One handle and one thread for each attempt. Three measures avoid librtmp's bugs: it does not read after the
/// handshake, it does not know the stream number (it would send when closed), and it may overwrite the buffer of each
/// message.
@safe final class RTMPHandle {
    /// Writable bytes that librtmp needs before each body for the chunk header.
    static let headroom = Int(RTMP_MAX_HEADER_SIZE)

    /// librtmp's descriptor. It is not -1, which means "not connected". Closing -2 has no effect.
    static let noDescriptor: CInt = -2

    /// Chunk streams for sending. Audio and video have their own, so that the timestamps of each stream only rise.
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

    /// Runs the RTMP handshake and sends `connect`, until the socket's deadline.
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

    /// Returns the bytes that librtmp has read after the handshake.
    func takeEarlyBytes() -> [UInt8] {
        let count = unsafe max(0, Int(rtmp.pointee.m_sb.sb_size))
        guard count > 0 else { return [] }
        unsafe rtmp.pointee.m_sb.sb_size = 0
        return unsafe [UInt8](UnsafeRawBufferPointer(start: rtmp.pointee.m_sb.sb_start, count: count))
    }

    /// Announces a chunk size to the server and uses it.
    func setChunkSize(_ size: Int) throws(PublishError) {
        precondition((1...0xff_ffff).contains(size), "an RTMP chunk has 1 to 16,777,215 bytes")
        try send(.setChunkSize, on: .control, word: UInt32(size))
        unsafe rtmp.pointee.m_outChunkSize = CInt(size)
    }

    /// Sends a control message of one big-endian 32-bit word.
    func send(_ type: RTMPMessageType, on stream: ChunkStream, word: UInt32) throws(PublishError) {
        try send(type, on: stream, body: Self.bytes(of: word))
    }

    private static func bytes(of word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }

    /// Answers a ping. A pong is user control event 7 with the ping's number.
    func sendPong(_ number: UInt32) throws(PublishError) {
        try send(.userControl, on: .control, body: [0, 7] + Self.bytes(of: number))
    }

    /// Sends a copy of a message other than media.
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

    /// Sends a message from a buffer with `headroom` writable bytes before `body`. Overwrites both.
    ///
    /// Timestamps of a chunk stream must not fall.
    /// - Returns: false on failure; the socket has recorded the reason.
    func send(
        _ type: RTMPMessageType, on stream: ChunkStream, streamID: UInt32, timestamp: UInt32,
        body: UnsafeMutableRawPointer, byteCount: Int
    ) -> Bool {
        var packet = unsafe packet(
            type, on: stream, streamID: streamID, timestamp: timestamp, body: body, byteCount: byteCount)
        return withSocket { unsafe RTMP_SendPacket(rtmp, &packet, 0) != 0 }
    }

    /// Runs `body` while librtmp reads from and writes to our socket.
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

    /// The first message of a chunk stream needs a full header. Later ones use a timestamp delta. If timestamp, size
    /// and type repeat, librtmp would omit the delta, which means "the same delta again"; then a full header is needed,
    /// too.
    private func headerType(
        on stream: ChunkStream, _ type: RTMPMessageType, _ timestamp: UInt32, _ byteCount: Int
    ) -> UInt8 {
        guard let previous = last[stream.rawValue] else { return UInt8(RTMP_PACKET_SIZE_LARGE) }
        let repeats = timestamp == previous.timestamp && byteCount == previous.byteCount && type == previous.type
        // Deltas are modulo 2^32, so that the wrap of timestamps after 49.7 days is a small step.
        let isStepBack = timestamp &- previous.timestamp > UInt32.max / 2
        // Commands and control messages are rare, and their stream ID changes.
        let isMedia = stream == .audio || stream == .video
        return UInt8(repeats || isStepBack || !isMedia ? RTMP_PACKET_SIZE_LARGE : RTMP_PACKET_SIZE_MEDIUM)
    }
}
