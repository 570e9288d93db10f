/// The type of a message. The number is byte 3 of the header. Clients send 0x01-0x7f, the daemon 0x80-0xff.
///
/// The names of client messages are from ReplayKit (`RPBroadcastSampleHandler`).
package enum MessageType: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    case started = 0x01
    case video = 0x02
    case audioApp = 0x03
    case audioMic = 0x04
    case paused = 0x05
    case resumed = 0x06
    case annotated = 0x07
    case finished = 0x08
    case sharedMemory = 0x09

    case welcome = 0x81
    case state = 0x82
    case error = 0x83
    case goodbye = 0x84
    case released = 0x85
    case counters = 0x86

    /// Whether clients send this type.
    package var isFromClient: Bool { rawValue < 0x80 }

    package var description: String {
        switch self {
        case .started: "started"
        case .video: "video"
        case .audioApp: "audioApp"
        case .audioMic: "audioMic"
        case .paused: "paused"
        case .resumed: "resumed"
        case .annotated: "annotated"
        case .finished: "finished"
        case .sharedMemory: "sharedMemory"
        case .welcome: "welcome"
        case .state: "state"
        case .error: "error"
        case .goodbye: "goodbye"
        case .released: "released"
        case .counters: "counters"
        }
    }

    /// The name, or the number of an unknown type.
    package static func name(of raw: UInt8) -> String {
        MessageType(rawValue: raw)?.description ?? hexadecimal(raw)
    }
}

/// `0x` and at least two digits, for sentences that name a number of the wire format.
func hexadecimal<Value: FixedWidthInteger>(_ value: Value) -> String {
    let digits = String(value, radix: 16)
    return "0x" + (digits.utf8.count < 2 ? "0" : "") + digits
}
