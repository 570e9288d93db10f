internal import MediaCore

/// Until when a compositing manager may show a window where it is not, or no longer: for some time, and while it paints
/// there. It may be busy, and users set slow animations. Pure.
struct EffectEnd: Equatable, Sendable {
    /// How long the effect usually takes at most.
    private var time: MediaTime
    /// When that time is over.
    private(set) var until: MediaTime
    /// When something was last painted in the place; at first, the time of the event that causes the effect.
    private var lastPaint: MediaTime

    /// How much longer a place is hidden in which something is always painted, as by a video, or nothing yet.
    static let patience = MediaTime.seconds(4)

    init(_ time: MediaTime, from now: MediaTime) { (self.time, until, lastPaint) = (time, now + time, now) }

    /// The latest possible end.
    var latest: MediaTime { until + Self.patience }

    /// A manager that paints nothing for so long is done: 0.4 s, as a rule. Cursors of programs blink more slowly.
    var pause: MediaTime { MediaTime(nanoseconds: time.nanoseconds * 2 / 5) }

    /// The end if nothing more is painted.
    var end: MediaTime { min(max(until, lastPaint + pause), latest) }

    mutating func painted(now: MediaTime) { lastPaint = now }

    /// Begins the time anew. The end is not earlier than before.
    mutating func restart(now: MediaTime) { until = max(until, now + time) }

    /// Ends when both are over.
    mutating func join(_ other: Self) {
        time = max(time, other.time)
        (until, lastPaint) = (max(until, other.until), max(lastPaint, other.lastPaint))
    }
}
