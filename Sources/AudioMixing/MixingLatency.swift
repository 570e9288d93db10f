internal import MediaCore

/// How long the mixer waits for its sources: grows at once to what a late block would have needed, shrinks slowly.
///
/// A growing wait costs delay, a wait that is too short costs samples; so it grows already when a block has come only
/// just in time. The wait moves nothing on the timeline, only the moment at which a block of output is made.
struct MixingLatency: Sendable {
    /// A block that comes with less than this to spare makes the wait grow.
    private static let reserve = MediaTime.milliseconds(5)
    /// What is added to the need that made it grow.
    private static let margin = MediaTime.milliseconds(15)
    private static let shrinkInterval = MediaTime.seconds(10)

    private let minimum: MediaTime
    private let maximum: MediaTime
    private(set) var current: MediaTime
    private(set) var largest: MediaTime
    private var intervalEnd: MediaTime?
    private var largestNeed = MediaTime.zero

    init(minimum: MediaTime, maximum: MediaTime) {
        self.minimum = minimum
        self.maximum = maximum
        current = minimum
        largest = minimum
    }

    /// A block came `need` after the time of its first sample.
    mutating func observe(need: MediaTime) {
        let need = min(max(need, .zero), maximum)
        largestNeed = max(largestNeed, need)
        guard need + Self.reserve > current else { return }
        current = min(maximum, max(current, need + Self.margin))
        largest = max(largest, current)
    }

    /// Gives back, each ten seconds, a quarter of what no block of these has needed.
    mutating func advance(to now: MediaTime) {
        guard let end = intervalEnd else {
            intervalEnd = now + Self.shrinkInterval
            return
        }
        guard now >= end else { return }
        let wanted = max(minimum, min(maximum, largestNeed + Self.margin))
        if current > wanted {
            let surplus = current - wanted
            current -= surplus < .milliseconds(1) ? surplus : MediaTime(nanoseconds: surplus.nanoseconds / 4)
        }
        largestNeed = .zero
        intervalEnd = now + Self.shrinkInterval
    }
}
