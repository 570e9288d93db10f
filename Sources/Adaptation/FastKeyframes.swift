internal import MediaCore

/// Keyframes that go through much faster than the known rate of a link. Pure.
///
/// Each may be the first sign of a better link, which is then tested without a pause. But a hop with a buffer of its
/// own, such as a proxy, takes every keyframe at once. So each keyframe that counts delays the next one that can count.
struct FastKeyframes: Equatable, Sendable {
    /// Whether one has counted, and no trial has shown yet what the link carries.
    private(set) var isUntested = false
    /// The time from the last one that counted to the next one that can; nil if the next one counts as the first.
    private var pause: MediaTime?
    /// When that pause ends.
    private var earliest = MediaTime.zero

    private static let firstPause = MediaTime.seconds(4)
    /// The pause is doubled by each one that counts, up to this.
    private static let longestPause = MediaTime.seconds(16)
    /// If the pause has been over for this long, the next one counts as the first again.
    private static let memory = MediaTime.seconds(24)

    /// - Returns: whether this one counts.
    mutating func note(at now: MediaTime) -> Bool {
        guard !isUntested, now >= earliest else { return false }
        let last = now - earliest < Self.memory ? pause : nil
        let next = last.map { min($0 + $0, Self.longestPause) } ?? Self.firstPause
        (isUntested, pause, earliest) = (true, next, now + next)
        return true
    }

    /// A trial has shown a better link, or the link is full.
    mutating func noteTested() { isUntested = false }

    /// The target is at the ceiling: the next one that counts is the first again.
    mutating func noteNoLimit() { pause = nil }
}
