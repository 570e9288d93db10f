/// Message types of RTMP 1.0 that a publisher sends or reads; raw values are the protocol's.
enum RTMPMessageType: UInt8, Sendable {
    case setChunkSize = 1
    case abort = 2
    case acknowledgement = 3
    case userControl = 4
    case windowAcknowledgementSize = 5
    case setPeerBandwidth = 6
    case audio = 8
    case video = 9
    /// A command in an AMF3 envelope: a zero byte, then AMF0.
    case commandAMF3 = 17
    case dataAMF0 = 18
    case commandAMF0 = 20

    /// Whether a publisher reads messages of this type from a server. Others are skipped.
    var isReadInbound: Bool {
        switch self {
        case .setChunkSize, .abort, .acknowledgement, .userControl, .windowAcknowledgementSize, .setPeerBandwidth,
            .commandAMF3, .commandAMF0:
            true
        case .audio, .video, .dataAMF0: false
        }
    }
}

/// A whole message from a server.
struct RTMPMessage: Equatable, Sendable {
    var type: RTMPMessageType
    var streamID: UInt32
    var payload: [UInt8]

    init(type: RTMPMessageType, streamID: UInt32, payload: [UInt8]) {
        self.type = type
        self.streamID = streamID
        self.payload = payload
    }

    /// The big-endian word at `offset`; nil if the payload is too short.
    func word(at offset: Int) -> UInt32? {
        guard payload.count >= offset + 4 else { return nil }
        return payload[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// How a server broke the protocol or exceeded our limits.
enum RTMPProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooManyChunkStreams(limit: Int)
    case messageTooLong(type: UInt8, bytes: Int, limit: Int)
    /// A new message header before the message on the same chunk stream was complete.
    case headerWithinMessage(chunkStream: Int)
    /// A compressed header on a chunk stream without an earlier header.
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
            "it refers to an earlier header on chunk stream \(stream), but none was sent"
        case .badChunkSize(let size): "it sets a chunk size of \(size)"
        case .badControlMessage(let type, let bytes): "it sends a control message of type \(type) with \(bytes) bytes"
        case .badCommand(let why): "it sends a command that cannot be read (\(why))"
        }
    }
}
