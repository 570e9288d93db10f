internal import MediaCore

/// Counts the latest connections in a row that a server accepted and closed within a second.
struct ShortConnections {
    static let shortest = MediaTime.seconds(1)
    /// From this count on, short connections are no coincidence.
    static let worthTelling = 3

    private(set) var count = 0

    var isFlapping: Bool { count >= Self.worthTelling }
    /// True at 3, 6, 12 and so on.
    var isNews: Bool {
        count % Self.worthTelling == 0 && (count / Self.worthTelling).nonzeroBitCount == 1
    }

    mutating func noteShort() { count += 1 }
    /// Called when a connection has lasted.
    mutating func reset() { count = 0 }
}
