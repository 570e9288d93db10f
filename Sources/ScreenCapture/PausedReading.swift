package import MediaCore

/// When windows are read while nothing is sent: what is not read in a long pause may be gone at its end. Pure.
package struct PausedReading: Equatable, Sendable {
    private var earliest = MediaTime.zero

    /// From one reading to the next.
    package static let interval = MediaTime.seconds(1)

    package init() {}

    /// When to read; nil for not at all.
    ///
    /// - Parameters:
    ///   - isPaused: nothing is sent. Otherwise each picture reads what it needs.
    ///   - hasUnread: there is something to read.
    package func due(isPaused: Bool, hasUnread: Bool) -> MediaTime? { isPaused && hasUnread ? earliest : nil }

    /// A reading has ended. A slow server has a second for itself then.
    package mutating func noteRead(at now: MediaTime) { earliest = now + Self.interval }
}
