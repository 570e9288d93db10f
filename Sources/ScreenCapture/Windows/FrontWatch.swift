package import MediaCore

/// Decides whether a chosen application is in front, so that viewers may see the screen. Pure.
///
/// A window manager reports the active window after it has raised it. So each window of another application that comes
/// or moves raises doubt for a while.
package struct FrontWatch: Sendable {
    /// How long after such an event a window manager may take to report the active window.
    package static let doubt = MediaTime.milliseconds(150)

    private var active: UInt32?
    /// The active window has changed, and was not asked for since.
    package private(set) var mustAsk = true
    private var doubtEnd = MediaTime.zero

    package init() {}

    /// The window manager reports another active window.
    package mutating func activeChanged() { mustAsk = true }

    /// Notes the active window, as the window manager reports it.
    package mutating func note(active window: UInt32?) { (active, mustAsk) = (window, false) }

    /// A window of another application came, moved, or was raised.
    package mutating func othersMoved(now: MediaTime) { doubtEnd = now + Self.doubt }

    /// Whether the application is in front in a picture.
    ///
    /// - Parameter isChosen: whether a window belongs to the application.
    package func isInFront(now: MediaTime, isChosen: (UInt32) -> Bool) -> Bool {
        guard !mustAsk, now >= doubtEnd, let active else { return false }
        return isChosen(active)
    }

    /// When the doubt ends; nil if there is none.
    package func nextEnd(now: MediaTime) -> MediaTime? { doubtEnd > now ? doubtEnd : nil }
}
