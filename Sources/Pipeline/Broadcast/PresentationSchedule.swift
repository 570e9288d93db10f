internal import MediaCore

/// When frames are shown, and when the last one is shown again: a pure value, so that it is tested without a clock.
///
/// A client whose frames come late is not idle. Repeats therefore hang on when something was last encoded, and take the
/// time that the next frame would have: one at the clock's time would overtake frames that are still on their way.
struct PresentationSchedule {
    /// Two presentation times are at least this far apart: RTMP counts milliseconds, and equal ones confuse players.
    private static let minimumStep = MediaTime.milliseconds(1)

    /// How long a screen may stay silent before its last canvas is encoded again.
    let idleInterval: MediaTime
    private var pacer: FramePacer
    /// What was encoded last: its time, and when that was on the monotonic clock. Nil before the first.
    private var last: (pts: MediaTime, at: MediaTime)?
    /// How far what comes next is ahead of the clock since then: behind the background that opens the stream.
    private var leap = MediaTime.zero

    init(_ frameRate: FrameRate, idleInterval: MediaTime) {
        self.idleInterval = idleInterval
        pacer = FramePacer(frameRate)
    }

    /// From now on a frame in `divisor` is due.
    mutating func divide(by divisor: Int) { pacer.divide(by: divisor) }

    /// What to do with a frame that is to be shown at `time`.
    func decide(_ time: MediaTime) -> FramePacer.Decision { pacer.decide(time) }

    /// When, on the monotonic clock, the last canvas has been shown for so long; nil before the first.
    func deadline(after interval: MediaTime) -> MediaTime? { last.map { $0.at + interval } }

    /// The time of a repeat that is encoded at `now` (monotonic clock); nil before the first frame.
    ///
    /// It is as late as the last frame was; after a long gap (the machine slept) one repeat, not many.
    func repeatTime(at now: MediaTime) -> MediaTime? { last.map { $0.pts + leap + (now - $0.at) } }

    /// What was encoded last was for a time that is long past when it was encoded: what comes next is for the
    /// broadcast's clock, which shows `clock` at `now` (monotonic clock).
    mutating func catchUp(to clock: MediaTime, at now: MediaTime) {
        if let repeated = repeatTime(at: now) { leap += max(.zero, clock - repeated) }
    }

    /// The least time between two frames.
    var frameDuration: MediaTime { pacer.frameDuration }

    /// What comes next may be shown at any time after `pts`: the end of the stream was taken back.
    mutating func goBack(to pts: MediaTime) {
        if let last, pts < last.pts { self.last = (pts, last.at) }
    }

    /// Takes note that something for `time` is encoded at `now` (monotonic clock); returns the time that it gets.
    mutating func encode(_ time: MediaTime, at now: MediaTime) -> MediaTime {
        let pts = last.map { max(time, $0.pts + Self.minimumStep) } ?? max(time, .zero)
        last = (pts, now)
        leap = .zero
        // By the time that it has in the stream: frames that a repeat has overtaken are thinned out, not squeezed.
        pacer.encoded(pts)
        return pts
    }
}
