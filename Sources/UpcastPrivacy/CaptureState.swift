internal import MediaCore

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
        case camera
        case file
        /// Anything else, in the daemon's word: `other`, or what a later daemon says. Not checked.
        case other(String)

        init(_ text: String) {
            self =
                switch SourceKind.allCases.first(where: { $0.description == text }) {
                case .screen: .screen
                case .mirroring: .mirroring
                case .externalPlayback: .externalPlayback
                case .camera: .camera
                case .file: .file
                case .other, nil: .other(text)
                }
        }

        public var description: String {
            switch self {
            case .screen: SourceKind.screen.description
            case .mirroring: SourceKind.mirroring.description
            case .externalPlayback: SourceKind.externalPlayback.description
            case .camera: SourceKind.camera.description
            case .file: SourceKind.file.description
            case .other(let text): text
            }
        }
    }

    public let kind: Kind
    /// The capture client's name, as it says itself: untrusted text.
    public let client: String
    /// When the capture began, to the millisecond. Another capture by the same client has another time.
    public let since: UTCTime
}
