package import MediaCore

/// Decides when to paint over the pixels that secure windows have left on the screen. Pure.
///
/// The user briefly sees the black places, and programs have to redraw. So the schedule waits until windows stand
/// still, but not for long, because viewers do not see these places meanwhile.
package struct EraseSchedule: Equatable, Sendable {
    /// How long windows have to stand still.
    package static let calm = MediaTime.milliseconds(100)
    /// The least time between two erasures, and the longest wait after a window has left pixels behind.
    package static let pause = MediaTime.milliseconds(200)

    private var calmSince = MediaTime.zero
    private var lastErasure: MediaTime?
    private var leftSince: MediaTime?

    package init() {}

    /// A window has come, gone, moved or changed.
    package mutating func windowsChanged(now: MediaTime) { calmSince = now }

    /// Notes whether any pixels are left behind.
    package mutating func note(leavesAny: Bool, now: MediaTime) { leftSince = leavesAny ? leftSince ?? now : nil }

    package mutating func erased(now: MediaTime) { lastErasure = now }

    /// When to paint over the pixels; nil while there are none.
    package var due: MediaTime? {
        guard let leftSince else { return nil }
        let soon = min(calmSince + Self.calm, leftSince + Self.pause)
        return lastErasure.map { max(soon, $0 + Self.pause) } ?? soon
    }
}
