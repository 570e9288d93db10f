internal import MediaCore

/// Whether the screen is captured, as far as is known.
public enum CaptureState: Hashable, Sendable {
    /// The screen is captured, or captured samples are still being sent.
    case captured(Capture)
    /// The screen is certainly not captured.
    case notCaptured
    /// Unknown, because the daemon cannot be asked, or has not answered yet. Treat this as captured.
    case unknown

    /// True for `captured` and for `unknown`.
    public var isCaptured: Bool { self != .notCaptured }
}

/// One broadcast, as reported to the captured app.
public struct Capture: Hashable, Sendable {
    /// What is done with the picture, according to the capture client.
    public enum Kind: Hashable, Sendable, CustomStringConvertible {
        /// The screen is recorded or broadcast.
        case screen
        /// Another screen shows the same picture at the same time.
        case mirroring
        /// Another screen shows a player's output.
        case externalPlayback
        case camera
        case file
        /// Anything else, in the daemon's word: `other`, or a word of a later daemon. Not checked.
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
    /// The name that the capture client gives itself: untrusted text.
    public let client: String
    /// When the capture began, to the millisecond. Another capture by the same client has a different time.
    public let since: UTCTime
}
