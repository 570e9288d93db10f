/// What viewers get. Status, page, `upcastctl`, systemd's status text, metrics and alerts use the same words.
package enum AirState: String, CaseIterable, Sendable {
    /// No client, and nothing is being sent.
    case idle
    /// A client is connected, but no server takes media.
    case offAir = "off_air"
    /// On air, and the curtain is up.
    case hidden
    /// On air, but at least one RTMP destination is late or sheds packets.
    case impaired
    /// At least one server takes media.
    case onAir = "on_air"

    /// The words for people.
    package var words: String {
        switch self {
        case .idle: "idle"
        case .offAir: "off air"
        case .hidden: "hidden"
        case .impaired: "impaired"
        case .onAir: "on air"
        }
    }

    /// Whether a server takes media, whatever the picture is.
    package var isOnAir: Bool { self != .idle && self != .offAir }
}

/// The one state of a broadcast for people, and since when. Recordings are listed separately: they never make it "on
/// air".
package struct AirStatus: JSONRecord {
    package var state = AirState.idle
    /// An outage counts from its beginning, however many attempts it has.
    package var sinceMilliseconds = 0
    /// Whether a file destination takes media.
    package var isRecording = false

    package init() {}

    /// "off air, recording".
    package var words: String { state.words + (isRecording ? ", recording" : "") }

    package mutating func visit(_ fields: inout JSONFields) {
        fields("state", &state)
        fields("since_ms", &sinceMilliseconds)
        fields("recording", &isRecording)
    }
}
