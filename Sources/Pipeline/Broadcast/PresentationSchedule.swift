internal import MediaCore

/// Decides when frames are shown, and when the last one is repeated. A pure value, so tests need no clock.
///
/// A client whose frames come late is not idle. The time of a repeat therefore depends on when a frame was last
/// encoded, and a repeat gets the time that the next frame would have. A repeat at the clock's time would overtake
/// frames that are still on their way.
struct PresentationSchedule {
    /// The least distance between two presentation times: RTMP counts in milliseconds, and equal times confuse
    /// players.
    private static let minimumStep = MediaTime.milliseconds(1)

    /// How long the source may send nothing before its last canvas is encoded again.
    let idleInterval: MediaTime
    private var pacer: FramePacer
    /// The pacer as it was before the repeats since the last frame; nil if there were none.
    private var unrepeated: FramePacer?
    /// The last encoded frame: its presentation time, and when it was encoded on the monotonic clock. Nil before the
    /// first.
    private var last: (pts: MediaTime, at: MediaTime)?
    /// How far the next frame is ahead of the clock since then. It is set after the background that opens the stream.
    private var leap = MediaTime.zero

    init(_ frameRate: FrameRate, idleInterval: MediaTime) {
        self.idleInterval = idleInterval
        pacer = FramePacer(frameRate)
    }

    /// From now on one frame in `divisor` is due.
    mutating func divide(by divisor: Int) {
        pacer.divide(by: divisor)
        unrepeated?.divide(by: divisor)
    }

    /// Decides about a client's frame that is to be shown at `time`.
    ///
    /// A repeat shows nothing new, so the frame after it keeps its distance only from the last frame before the repeat.
    func decide(_ time: MediaTime) -> FramePacer.Decision { pacer(for: time).decide(time) }

    /// Decides about the shown picture, which has changed. It keeps its distance from repeats, too.
    func decideChange(_ time: MediaTime) -> FramePacer.Decision { pacer.decide(time) }

    /// The pacer for a client's frame. It counts repeats in two cases. Frames that a repeat has overtaken are thinned
    /// out, not squeezed in behind it. If repeats are almost as frequent as frames, both together would exceed the
    /// frame rate.
    private func pacer(for time: MediaTime) -> FramePacer {
        guard let unrepeated, let last, time >= last.pts + Self.minimumStep, idleInterval >= frameDuration * 2 else {
            return pacer
        }
        return unrepeated
    }

    /// When, on the monotonic clock, the last canvas will have been shown for `interval`; nil before the first.
    func deadline(after interval: MediaTime) -> MediaTime? { last.map { $0.at + interval } }

    /// The time of a repeat that is encoded at `now` (monotonic clock); nil before the first frame.
    ///
    /// A repeat is as late as the last frame was. After a long gap (the machine slept) there is one repeat, not many.
    func repeatTime(at now: MediaTime) -> MediaTime? { last.map { $0.pts + leap + (now - $0.at) } }

    /// Moves the next frame's time up to the broadcast's clock, which shows `clock` at `now` (monotonic clock).
    /// Needed if the last frame's time was long past when it was encoded.
    mutating func catchUp(to clock: MediaTime, at now: MediaTime) {
        if let repeated = repeatTime(at: now) { leap += max(.zero, clock - repeated) }
    }

    /// The least time between two frames.
    var frameDuration: MediaTime { pacer.frameDuration }

    /// The next frame may be shown at any time after `pts`, because the end of the stream was taken back.
    mutating func goBack(to pts: MediaTime) {
        if let last, pts < last.pts { self.last = (pts, last.at) }
    }

    /// Records that a frame for `time` is encoded at `now` (monotonic clock). Returns its presentation time.
    ///
    /// - Parameter isRepeat: whether it shows nothing new, so that a client's frame need not keep a distance from it.
    mutating func encode(_ time: MediaTime, at now: MediaTime, isRepeat: Bool = false) -> MediaTime {
        (pacer, unrepeated) = isRepeat ? (pacer, unrepeated ?? pacer) : (pacer(for: time), nil)
        let pts = last.map { max(time, $0.pts + Self.minimumStep) } ?? max(time, .zero)
        last = (pts, now)
        leap = .zero
        // The pacer gets the time in the stream. For a frame that a repeat has overtaken, that is later than its own.
        pacer.encoded(pts)
        return pts
    }
}
