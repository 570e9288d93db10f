package import MediaCore

/// Decides when what secure windows have left on the screen is painted over. Pure.
///
/// Whoever looks at the screen sees that for a moment, and programs have to draw again. So it waits until windows are
/// calm, but not for long: these places are hidden from viewers.
package struct EraseSchedule: Equatable, Sendable {
    /// So long after the last event of a window.
    package static let calm = MediaTime.milliseconds(100)
    /// Between two times, and so long at most after something was left.
    package static let pause = MediaTime.milliseconds(200)

    private var calmSince = MediaTime.zero
    private var lastErasure: MediaTime?
    private var leftSince: MediaTime?

    package init() {}

    /// A window has come, gone, moved or changed.
    package mutating func windowsChanged(now: MediaTime) { calmSince = now }

    /// Whether anything is left.
    package mutating func note(leavesAny: Bool, now: MediaTime) { leftSince = leavesAny ? leftSince ?? now : nil }

    package mutating func erased(now: MediaTime) { lastErasure = now }

    /// When to paint over it; nil while nothing is left.
    package var due: MediaTime? {
        guard let leftSince else { return nil }
        let soon = min(calmSince + Self.calm, leftSince + Self.pause)
        return lastErasure.map { max(soon, $0 + Self.pause) } ?? soon
    }
}
