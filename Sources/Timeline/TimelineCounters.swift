package import MediaCore

/// What a timeline has seen since the broadcast started.
package struct TimelineCounters: Equatable, Sendable {
    package var samples = 0
    /// New relations between PTS and broadcast time; the sum of the next three.
    package var rebases: Int { jumpsForward + jumpsBackward + latenessRebases }
    package var jumpsForward = 0
    package var jumpsBackward = 0
    /// Rebases because every sample came late for a second.
    package var latenessRebases = 0
    /// Times that a track followed another's jump, or returned from one.
    package var followed = 0
    /// Video frames refused because they were not later than the one before.
    package var refusedFrames = 0
    /// Samples refused because they lay before the broadcast's start.
    package var beforeStart = 0
    /// The furthest that the client's clock has moved against ours since the start or the last rebase.
    package var largestDrift = MediaTime.zero

    package init() {}
}
