/// What a destination is, in the status and in metrics. The only list of kinds.
package enum DestinationKind: String, CaseIterable, Sendable {
    case rtmp, file

    /// Whether viewers can watch what arrives there; false for a recording.
    package var isServer: Bool { self != .file }

    /// For docs.
    package static var names: String { allCases.map(\.rawValue).joined(separator: " or ") }
}
