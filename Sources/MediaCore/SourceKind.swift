/// What kind of capture a client does, as the captured app is told it. The raw value is that of the protocol.
package enum SourceKind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    case other = 0
    /// A screen is recorded or broadcast.
    case screen = 1
    /// A screen is shown on another at the same time.
    case mirroring = 2
    /// Another screen shows a player's output.
    case externalPlayback = 3
    case camera = 4
    case file = 5

    /// As the status, the log and the captured app have it.
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

    /// As the configuration has it.
    package var key: String { String(description.map { $0 == " " ? "_" : $0 }) }
}
