package import MediaCore

/// The tolerances of a timeline. Beyond them, the client's clock has jumped.
package struct TimelineSettings: Sendable, Equatable {
    /// A PTS this close to the expected one is continuous. PTS from a busy clock vary this much.
    package var stepTolerance: MediaTime
    /// A frame no further than this before the last one may be out of order; the next frame decides.
    package var reorderTolerance: MediaTime
    /// A sample further than this ahead of the broadcast clock is a jump, even if its PTS continue.
    package var aheadTolerance: MediaTime
    /// A sample further than this behind the broadcast clock is a jump, even if its PTS continue.
    package var behindTolerance: MediaTime
    /// If all samples of a whole second are later than this, the timeline moves on to the broadcast clock. In that case
    /// the client's clock stood still for less than `behindTolerance`, and would otherwise stay late permanently.
    package var lastingLateness: MediaTime
    /// The maximum slew per second of the broadcast clock. It must exceed the drift of any real clock.
    package var slewPerSecond: MediaTime
    /// How long after a rebase a track can follow it, up to its last sample.
    package var followWindow: MediaTime

    package init(
        stepTolerance: MediaTime = .milliseconds(60), reorderTolerance: MediaTime = .milliseconds(80),
        aheadTolerance: MediaTime = .seconds(1), behindTolerance: MediaTime = .seconds(2),
        lastingLateness: MediaTime = .milliseconds(500), slewPerSecond: MediaTime = .milliseconds(10),
        followWindow: MediaTime = .seconds(5)
    ) {
        self.stepTolerance = stepTolerance
        self.reorderTolerance = reorderTolerance
        self.aheadTolerance = aheadTolerance
        self.behindTolerance = behindTolerance
        self.lastingLateness = lastingLateness
        self.slewPerSecond = slewPerSecond
        self.followWindow = followWindow
    }

    /// Whether a sample can be this many nanoseconds ahead of the broadcast clock; negative is late.
    func accepts(_ deviation: Int64) -> Bool {
        deviation <= aheadTolerance.nanoseconds && deviation >= -behindTolerance.nanoseconds
    }
}
