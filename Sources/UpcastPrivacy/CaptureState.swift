/// Whether the screen is captured, as far as anybody knows.
public enum CaptureState: Hashable, Sendable {
    /// It is, or what was captured is still going out.
    case captured(Capture)
    /// Certainly not.
    case notCaptured
    /// Nobody can tell: the daemon cannot be asked, or has not answered yet. To be treated as captured.
    case unknown

    /// True for `captured` and for `unknown`.
    public var isCaptured: Bool { self != .notCaptured }
}

/// One broadcast, as the captured app is told of it.
public struct Capture: Hashable, Sendable {
    /// What is done with the picture, as the capture client says.
    public enum Kind: Hashable, Sendable, CustomStringConvertible {
        /// The screen is recorded or broadcast.
        case screen
        /// The screen is shown on another at the same time.
        case mirroring
        /// Another screen shows a player's output.
        case externalPlayback
        /// Anything else, in the daemon's word: `camera`, `file`, `other`, or what a later daemon says. Not checked.
        case other(String)

        init(_ text: String) {
            self =
                switch text {
                case "screen": .screen
                case "mirroring": .mirroring
                case "external playback": .externalPlayback
                default: .other(text)
                }
        }

        public var description: String {
            switch self {
            case .screen: "screen"
            case .mirroring: "mirroring"
            case .externalPlayback: "external playback"
            case .other(let text): text
            }
        }
    }

    public let kind: Kind
    /// The capture client's name, as it says itself: untrusted text.
    public let client: String
    /// When the capture began, by the machine's clock: milliseconds since 1970, in UTC.
    public let since: Int64
}
