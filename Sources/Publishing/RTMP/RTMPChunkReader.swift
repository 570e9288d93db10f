/// Assembles messages from the chunks of a server (RTMP 1.0, section 5.3). The server is not trusted.
///
/// Bytes come in any portions. Memory is at most `maximumChunkStreams` times `maximumMessageBytes`; message types that
/// a publisher does not need are skipped. The reader obeys Set Chunk Size and Abort, and ignores timestamps. After an
/// error the connection is unusable.
struct RTMPChunkReader: Sendable {
    static let maximumChunkStreams = 8
    static let maximumMessageBytes = 16_384
    static let maximumChunkSize: UInt32 = 0x7fff_ffff

    private struct ChunkStream {
        let id: Int
        var type: UInt8 = 0
        var streamID: UInt32 = 0
        var length = 0
        /// Whether the last header had an extended timestamp; continuations then have one, too.
        var hasExtendedTimestamp = false
        /// Payload bytes that are missing; nil between messages.
        var remaining: Int?
        var payload: [UInt8] = []
    }

    private var chunkSize = 128
    private var streams: [ChunkStream] = []
    /// The header that is being read.
    private var header: [UInt8] = []
    /// The chunk stream of the current chunk, and the chunk's remaining bytes.
    private var current: (index: Int, left: Int)?

    init() {
        header.reserveCapacity(18)
        streams.reserveCapacity(Self.maximumChunkStreams)
    }

    /// Returns the next whole message from `bytes`, starting at `position`; nil when all bytes are consumed.
    mutating func next(
        from bytes: Span<UInt8>, at position: inout Int
    ) throws(RTMPProtocolError) -> RTMPMessage? {
        while true {
            if let (index, left) = current {
                let count = min(left, bytes.count - position)
                takePayload(bytes.extracting(position..<(position + count)), of: index)
                position += count
                guard count == left else {
                    current = (index, left - count)
                    return nil
                }
                current = nil
                if streams[index].remaining == 0, let message = try complete(index) { return message }
            } else {
                guard position < bytes.count else { return nil }
                header.append(bytes[position])
                position += 1
                if try isHeaderComplete() { try beginChunk() }
            }
        }
    }

    private mutating func takePayload(_ bytes: Span<UInt8>, of index: Int) {
        streams[index].remaining! -= bytes.count
        guard RTMPMessageType(rawValue: streams[index].type)?.isReadInbound == true else { return }
        for position in bytes.indices { streams[index].payload.append(bytes[position]) }
    }

    // MARK: Headers

    private var format: Int { Int(header[0] >> 6) }
    private var basicHeaderBytes: Int {
        switch header[0] & 63 {
        case 0: 2
        case 1: 3
        default: 1
        }
    }
    private var chunkStreamID: Int {
        switch basicHeaderBytes {
        case 2: 64 + Int(header[1])
        case 3: 64 + Int(header[1]) + Int(header[2]) << 8
        default: Int(header[0] & 63)
        }
    }
    private func field(_ offset: Int, _ count: Int) -> UInt32 {
        let start = basicHeaderBytes + offset
        return header[start..<(start + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func isHeaderComplete() throws(RTMPProtocolError) -> Bool {
        let basic = basicHeaderBytes
        guard header.count >= basic else { return false }
        let messageHeader = [11, 7, 3, 0][format]
        guard header.count >= basic + messageHeader else { return false }
        let isExtended: Bool
        if format == 3 {
            isExtended = streams.first { $0.id == chunkStreamID }?.hasExtendedTimestamp ?? false
        } else {
            isExtended = field(0, 3) == 0xff_ffff
        }
        return header.count >= basic + messageHeader + (isExtended ? 4 : 0)
    }

    private mutating func beginChunk() throws(RTMPProtocolError) {
        let (format, id) = (format, chunkStreamID)
        defer { header.removeAll(keepingCapacity: true) }
        let index: Int
        if let known = streams.firstIndex(where: { $0.id == id }) {
            index = known
        } else {
            // Type 1 omits only the message stream ID; some servers begin with it and mean 0. An HTTP response looks
            // like type 1 as well, except for its message type.
            guard format == 0 || format == 1 && RTMPMessageType(rawValue: UInt8(field(6, 1))) != nil else {
                throw .headerWithoutPredecessor(chunkStream: id)
            }
            guard streams.count < Self.maximumChunkStreams else {
                throw .tooManyChunkStreams(limit: Self.maximumChunkStreams)
            }
            index = streams.count
            streams.append(ChunkStream(id: id))
        }
        if format < 3 {
            guard streams[index].remaining == nil else { throw .headerWithinMessage(chunkStream: id) }
            streams[index].hasExtendedTimestamp = field(0, 3) == 0xff_ffff
            if format < 2 {
                streams[index].length = Int(field(3, 3))
                streams[index].type = UInt8(field(6, 1))
            }
            if format == 0 { streams[index].streamID = field(7, 4).byteSwapped }
        }
        if streams[index].remaining == nil { try beginMessage(index) }
        current = (index, min(chunkSize, streams[index].remaining!))
    }

    private mutating func beginMessage(_ index: Int) throws(RTMPProtocolError) {
        let (type, length) = (streams[index].type, streams[index].length)
        if RTMPMessageType(rawValue: type)?.isReadInbound == true, length > Self.maximumMessageBytes {
            throw .messageTooLong(type: type, bytes: length, limit: Self.maximumMessageBytes)
        }
        streams[index].remaining = length
        streams[index].payload.removeAll(keepingCapacity: true)
    }

    // MARK: Messages

    private mutating func complete(_ index: Int) throws(RTMPProtocolError) -> RTMPMessage? {
        streams[index].remaining = nil
        guard let type = RTMPMessageType(rawValue: streams[index].type), type.isReadInbound else { return nil }
        let message = RTMPMessage(type: type, streamID: streams[index].streamID, payload: streams[index].payload)
        switch type {
        case .setChunkSize:
            guard message.payload.count == 4, let size = message.word(at: 0) else {
                throw .badControlMessage(type: type.rawValue, bytes: message.payload.count)
            }
            guard (1...Self.maximumChunkSize).contains(size) else { throw .badChunkSize(size) }
            chunkSize = Int(size)
            return nil
        case .abort:
            guard message.payload.count == 4, let id = message.word(at: 0) else {
                throw .badControlMessage(type: type.rawValue, bytes: message.payload.count)
            }
            if let aborted = streams.firstIndex(where: { $0.id == Int(id) }) { streams[aborted].remaining = nil }
            return nil
        default: return message
        }
    }
}
