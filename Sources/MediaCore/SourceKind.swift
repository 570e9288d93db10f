/// The kind of a client's capture, which captured apps are told. The raw value is the protocol's.
package enum SourceKind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    case other = 0
    /// A screen is recorded or broadcast.
    case screen = 1
    /// A screen is mirrored to another one.
    case mirroring = 2
    /// Another screen shows the output of a player.
    case externalPlayback = 3
    case camera = 4
    case file = 5

    /// The form in the status, in the log, and for the captured app.
    package var description: String {
        switch self {
        case .other: "other"
        case .screen: "screen"
        case .mirroring: "mirroring"
        case .externalPlayback: "external playback"
        case .camera: "camera"
        case .file: "file"
        }
    }

    /// The form in the configuration.
    package var key: String { String(description.map { $0 == " " ? "_" : $0 }) }
}
