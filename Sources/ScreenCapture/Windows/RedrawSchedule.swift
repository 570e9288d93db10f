package import MediaCore

/// Decides when programs are asked to draw again what a secure window has left behind. Pure.
///
/// They do so by themselves as a rule. But a report of something drawn does not count while windows move, and a program
/// without a background may leave what it finds.
package struct RedrawSchedule: Equatable, Sendable {
    /// So long after the last event of a window: while windows move, more will be left behind.
    package static let calm = MediaTime.milliseconds(150)
    /// Between two requests at first, and at most.
    package static let (pause, longestPause) = (MediaTime.milliseconds(500), MediaTime.seconds(30))

    private var calmSince = MediaTime.zero
    private var lastRequest: MediaTime?
    private var pause = Self.pause

    package init() {}

    /// A window has come, gone, moved or changed.
    package mutating func windowsChanged(now: MediaTime) { calmSince = now }

    /// When to ask; nil while nothing is left behind.
    package func due(leavesAny: Bool) -> MediaTime? {
        guard leavesAny else { return nil }
        let calm = calmSince + Self.calm
        return lastRequest.map { max(calm, $0 + pause) } ?? calm
    }

    /// Programs were asked. What is still left after that is asked for less and less often.
    package mutating func requested(now: MediaTime) {
        lastRequest = now
        pause = min(pause * 2, Self.longestPause)
    }

    /// Nothing is left behind.
    package mutating func finished() { (lastRequest, pause) = (nil, Self.pause) }
}
