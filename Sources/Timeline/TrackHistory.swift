/// The history of one track, to distinguish a continuous sample from a PTS step.
///
/// All times are nanoseconds; PTS are the client's and wrap.
struct TrackHistory: Sendable {
    /// The distance of a PTS from the expected one, by two measures; negative values go back.
    struct Step: Sendable {
        /// From the end of the previous sample: exact, but does not show whether the client left samples out.
        var fromEnd: Int64
        /// From the previous sample plus the time since its arrival, or since it should have arrived if it was late:
        /// shows samples that were left out, but with all the jitter of arrival.
        var fromArrival: Int64
    }

    /// A longer distance between frames is an unchanged screen, and does not predict the next distance.
    private static let longestInterval: Int64 = 500_000_000
    /// The divisor of the elapsed time by which `lateness` decreases.
    private static let forgetting: Int64 = 10

    /// The era of the last sample; negative before the first.
    var era = -1
    private(set) var pts: Int64 = 0
    /// The expected start of the next sample: the end of the last block, or a frame's distance after the last frame.
    private(set) var end: Int64 = 0
    private(set) var arrival: Int64 = 0
    /// The first PTS of the continuous sequence.
    private(set) var runStart: Int64 = 0
    /// The maximum recent lateness of the track against the broadcast clock, caused by its bursts.
    private(set) var lateness: Int64 = 0
    /// The lateness of the last sample.
    private(set) var lastLateness: Int64 = 0
    /// The PTS of a refused frame, and its distance from `end`.
    private(set) var refused: (pts: Int64, fromEnd: Int64)?
    private var interval: Int64 = 0

    /// - Parameters:
    ///   - tolerance: a previous sample that was later than this arrived late.
    ///   - leastLateness: of recent samples; nil if unknown.
    func step(to pts: Int64, arrival: Int64, tolerance: Int64, leastLateness: Int64?) -> Step {
        let delay = leastLateness.map { lastLateness &- $0 } ?? 0
        let arrived = self.arrival &- (delay > tolerance ? delay : 0)
        return Step(fromEnd: pts &- end, fromArrival: (pts &- self.pts) &- (arrival &- arrived))
    }

    mutating func refuse(_ pts: Int64) { refused = (pts, pts &- end) }

    /// Records a placed sample.
    ///
    /// - Parameters:
    ///   - duration: the duration of a block; nil for a frame.
    ///   - goesOn: whether the sample follows the previous one without a step or a gap.
    ///   - late: the sample's lateness against the broadcast clock.
    ///   - isTooLate: whether a stall has made it late, and not a burst.
    mutating func take(
        _ pts: Int64, duration: Int64?, goesOn: Bool, late: Int64, isTooLate: Bool, arrival: Int64
    ) {
        if let duration {
            // All blocks of one burst may carry the burst's time (iOS 12). They then follow each other.
            end = (goesOn && pts == self.pts ? end : pts) &+ duration
        } else {
            let distance = pts &- self.pts
            if goesOn, distance > 0, distance <= Self.longestInterval { interval = distance }
            end = pts &+ interval
        }
        if !goesOn { runStart = pts }
        let elapsed = max(0, arrival &- self.arrival)
        lateness = max(isTooLate ? 0 : late, lateness &- elapsed / Self.forgetting)
        lastLateness = late
        self.pts = pts
        self.arrival = arrival
        refused = nil
    }
}
