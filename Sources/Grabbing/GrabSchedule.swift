package import MediaCore

/// Decides when the screen is grabbed: when it has changed, and no faster than the frame rate. Pure.
package struct GrabSchedule: Equatable, Sendable {
    private let interval: MediaTime
    /// The earliest time of the next grab.
    private var earliest = MediaTime.zero
    private var isDirty = true

    package init(_ rate: FrameRate) {
        interval = MediaTime(sample: Int64(rate.denominator), rate: rate.numerator)
    }

    /// The screen has changed, or may have.
    package mutating func noteChange() { isDirty = true }

    /// When to grab; nil while nothing has changed.
    package func due(now: MediaTime) -> MediaTime? { isDirty ? max(earliest, now) : nil }

    /// A grab begins. Changes from now on need another one.
    package mutating func grabbed(at now: MediaTime) {
        isDirty = false
        // While the screen changes all the time, grabs stay on a grid, so that a late grab does not delay later ones.
        earliest = now - earliest < interval ? earliest + interval : now + interval
    }

    /// The picture of the last grab was not sent: the next one follows at once.
    package mutating func retry() {
        isDirty = true
        earliest = .zero
    }
}
