/// The kind of a destination, in the status and in metrics. The types that conform to `DestinationEndpoint` name the
/// kinds. Tools treat an unknown kind as a server.
package struct DestinationKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let rtmp = Self(rawValue: "rtmp")
    package static let file = Self(rawValue: "file")

    /// Whether viewers can watch a stream there; false for a recording.
    package var isServer: Bool { self != .file }
}
