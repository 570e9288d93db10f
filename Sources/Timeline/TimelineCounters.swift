package import MediaCore

/// The counters of a timeline since the start of the broadcast.
package struct TimelineCounters: Equatable, Sendable {
    package var samples = 0
    /// New relations between PTS and broadcast time; the sum of the next three.
    package var rebases: Int { jumpsForward + jumpsBackward + latenessRebases }
    package var jumpsForward = 0
    package var jumpsBackward = 0
    /// Rebases because all samples of a second were late.
    package var latenessRebases = 0
    /// The number of times that a track followed another track's jump, or returned from one.
    package var followed = 0
    /// Video frames refused because they were not later than the previous one.
    package var refusedFrames = 0
    /// Samples refused because they were before the start of the broadcast.
    package var beforeStart = 0
    /// The maximum drift of the client's clock against the daemon's since the start or the last rebase.
    package var largestDrift = MediaTime.zero

    package init() {}
}
