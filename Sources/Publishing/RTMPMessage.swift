/// Message types of RTMP 1.0 that a publisher sends or has to understand; the raw values are the protocol's.
enum RTMPMessageType: UInt8, Sendable {
    case setChunkSize = 1
    case abort = 2
    case acknowledgement = 3
    case userControl = 4
    case windowAcknowledgementSize = 5
    case setPeerBandwidth = 6
    case audio = 8
    case video = 9
    /// A command in AMF3's envelope: one zero byte, then AMF0.
    case commandAMF3 = 17
    /// Metadata.
    case dataAMF0 = 18
    case commandAMF0 = 20

    /// Whether a server may send it to a publisher with something to say; anything else is skipped unread.
    var isReadInbound: Bool {
        switch self {
        case .setChunkSize, .abort, .acknowledgement, .userControl, .windowAcknowledgementSize, .setPeerBandwidth,
            .commandAMF3, .commandAMF0:
            true
        case .audio, .video, .dataAMF0: false
        }
    }
}

/// A whole message that a server sent.
struct RTMPMessage: Equatable, Sendable {
    var type: RTMPMessageType
    var streamID: UInt32
    var payload: [UInt8]

    init(type: RTMPMessageType, streamID: UInt32, payload: [UInt8]) {
        self.type = type
        self.streamID = streamID
        self.payload = payload
    }

    /// Four bytes from `offset` on, most significant first; nil where there are not as many.
    func word(at offset: Int) -> UInt32? {
        guard payload.count >= offset + 4 else { return nil }
        return payload[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// How a server broke the protocol, or went beyond what a publisher has to take.
enum RTMPProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooManyChunkStreams(limit: Int)
    case messageTooLong(type: UInt8, bytes: Int, limit: Int)
    /// A new message header while a message on the same chunk stream is half read.
    case headerWithinMessage(chunkStream: Int)
    /// A compressed header on a chunk stream that has had none to compress against.
    case headerWithoutPredecessor(chunkStream: Int)
    case badChunkSize(UInt32)
    /// A control message of the wrong size.
    case badControlMessage(type: UInt8, bytes: Int)
    case badCommand(String)

    var description: String {
        switch self {
        case .tooManyChunkStreams(let limit): "it uses more than \(limit) chunk streams"
        case .messageTooLong(let type, let bytes, let limit):
            "it sends a message of type \(type) with \(bytes) bytes, \(limit) are allowed"
        case .headerWithinMessage(let stream): "it starts a message on chunk stream \(stream) within another"
        case .headerWithoutPredecessor(let stream):
            "it refers to an earlier header on chunk stream \(stream), there is none"
        case .badChunkSize(let size): "it sets a chunk size of \(size)"
        case .badControlMessage(let type, let bytes): "it sends a control message of type \(type) with \(bytes) bytes"
        case .badCommand(let why): "it sends a command that cannot be read (\(why))"
        }
    }
}
