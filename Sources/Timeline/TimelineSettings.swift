package import MediaCore

/// What a broadcast timeline tolerates before it believes that the client's clock has jumped.
package struct TimelineSettings: Sendable, Equatable {
    /// A sample further than this ahead of the broadcast clock is a jump.
    package var aheadTolerance: MediaTime
    /// A sample further than this behind the broadcast clock is a jump.
    package var behindTolerance: MediaTime
    /// When every sample of a whole second is later than this, the timeline moves on to the broadcast clock: the
    /// client's clock stood still for less than `behindTolerance`, and would otherwise stay late for good.
    package var lastingLateness: MediaTime
    /// How far the broadcast clock may move a second to follow the client's; must exceed any honest clock's drift.
    package var slewPerSecond: MediaTime
    /// For how long after a rebase a track may follow it, or return from it, although it also fits where it is.
    package var followWindow: MediaTime

    package init(
        aheadTolerance: MediaTime = .seconds(1), behindTolerance: MediaTime = .seconds(2),
        lastingLateness: MediaTime = .milliseconds(500), slewPerSecond: MediaTime = .milliseconds(10),
        followWindow: MediaTime = .seconds(5)
    ) {
        self.aheadTolerance = aheadTolerance
        self.behindTolerance = behindTolerance
        self.lastingLateness = lastingLateness
        self.slewPerSecond = slewPerSecond
        self.followWindow = followWindow
    }
}
