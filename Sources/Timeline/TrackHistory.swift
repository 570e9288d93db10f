/// The history of one track, to distinguish a continuous sample from a PTS step.
///
/// All times are nanoseconds; PTS are the client's and wrap.
struct TrackHistory: Sendable {
    /// The distance of a PTS from the expected one, by two measures; negative is back.
    struct Step: Sendable {
        /// From the end of the sample before: exact, but blind to whether the client left something out.
        var fromEnd: Int64
        /// From the sample before plus the time that has passed since it arrived: sees what was left out, but with all
        /// the jitter of arrival.
        var fromArrival: Int64
    }

    /// A longer distance between frames is an unchanged screen, and does not predict the next distance.
    private static let longestInterval: Int64 = 500_000_000
    /// What the largest lateness is forgotten by, of the time that passes.
    private static let forgetting: Int64 = 10

    /// The epoch of the last sample; negative before the first.
    var epoch = -1
    private(set) var pts: Int64 = 0
    /// Where the next sample begins if it goes on: the end of the last block, a frame's distance after the last frame.
    private(set) var end: Int64 = 0
    private(set) var arrival: Int64 = 0
    /// The first PTS of the continuous sequence.
    private(set) var runStart: Int64 = 0
    /// How late the track has been against the broadcast clock lately: what its bursts make of it.
    private(set) var lateness: Int64 = 0
    /// The step of a frame that was refused, as it stood behind the last one, and its PTS.
    private(set) var refused: (pts: Int64, fromEnd: Int64)?
    private var interval: Int64 = 0

    func step(to pts: Int64, arrival: Int64) -> Step {
        Step(fromEnd: pts &- end, fromArrival: (pts &- self.pts) &- (arrival &- self.arrival))
    }

    mutating func refuse(_ pts: Int64) { refused = (pts, pts &- end) }

    /// Records a placed sample.
    ///
    /// - Parameters:
    ///   - duration: of a block; nil for a frame.
    ///   - goesOn: the sample follows the one before without a step or a gap.
    ///   - late: how late it stands against the broadcast clock.
    mutating func take(_ pts: Int64, duration: Int64?, goesOn: Bool, late: Int64, arrival: Int64) {
        if let duration {
            // Blocks of one burst may all carry the burst's time (iOS 12): they lie one behind another.
            end = (goesOn && pts == self.pts ? end : pts) &+ duration
        } else {
            let distance = pts &- self.pts
            if goesOn, distance > 0, distance <= Self.longestInterval { interval = distance }
            end = pts &+ interval
        }
        if !goesOn { runStart = pts }
        let elapsed = max(0, arrival &- self.arrival)
        lateness = max(late, lateness &- elapsed / Self.forgetting)
        self.pts = pts
        self.arrival = arrival
        refused = nil
    }
}
