package import MediaCore

/// Decides when windows are read while nothing is sent. Windows left unread in a long pause may be gone at its end.
/// Pure.
package struct PausedReading: Equatable, Sendable {
    private var earliest = MediaTime.zero

    /// The shortest time between two readings.
    package static let interval = MediaTime.seconds(1)

    package init() {}

    /// When to read; nil for not at all.
    ///
    /// - Parameters:
    ///   - isPaused: nothing is sent. Otherwise each picture reads what it needs.
    ///   - hasUnread: there is something to read.
    package func due(isPaused: Bool, hasUnread: Bool) -> MediaTime? { isPaused && hasUnread ? earliest : nil }

    /// A reading has ended. A slow server then gets a second without readings.
    package mutating func noteRead(at now: MediaTime) { earliest = now + Self.interval }
}
