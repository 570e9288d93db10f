internal import MediaCore

/// Counts connections in a row that a server took and closed within a second: it will do so with the next one, too.
struct ShortConnections {
    static let shortest = MediaTime.seconds(1)
    /// So many are no chance.
    static let worthTelling = 3

    private(set) var count = 0

    var isFlapping: Bool { count >= Self.worthTelling }
    /// At 3, 6, 12 and so on.
    var isNews: Bool {
        count % Self.worthTelling == 0 && (count / Self.worthTelling).nonzeroBitCount == 1
    }

    mutating func noteShort() { count += 1 }
    /// One has lasted.
    mutating func reset() { count = 0 }
}
