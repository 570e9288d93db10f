internal import MediaCore

/// Decides when a frame is due under the canvas's frame rate: a pure value, so that it is tested without a clock.
///
/// A source may be faster than the canvas. Frames that come too early are held, and a newer one replaces them; the last
/// frame of a burst is shown all the same, a little later, because on a screen that then stands still nothing newer
/// would ever come.
struct FramePacer {
    enum Decision: Equatable {
        /// Encode now.
        case due
        /// Hold the frame; if nothing newer has come `after` from its arrival, encode it then.
        case wait(MediaTime)
    }

    private let fullDuration: MediaTime
    private(set) var frameDuration: MediaTime
    private var due: MediaTime?

    init(_ frameRate: FrameRate) {
        fullDuration = frameRate.frameDuration
        frameDuration = fullDuration
    }

    /// From now on a frame in `divisor` is due.
    mutating func divide(by divisor: Int) { frameDuration = fullDuration * Int64(divisor) }

    /// Frames of a source at just our rate come with jitter: a quarter of a frame early still counts as due.
    private var tolerance: MediaTime { MediaTime(nanoseconds: frameDuration.nanoseconds / 4) }
    /// A source up to 5 % above our rate passes whole: to hold its frames back would cost latency and gain nothing.
    private var credit: MediaTime { MediaTime(nanoseconds: frameDuration.nanoseconds / 20 * 19) }

    /// What to do with a frame that is to be shown at `time`.
    func decide(_ time: MediaTime) -> Decision {
        guard let due, time < due - tolerance else { return .due }
        return .wait(due + tolerance - time)
    }

    /// A frame for `time` has been encoded.
    mutating func encoded(_ time: MediaTime) {
        guard let due, time < due + frameDuration, time + frameDuration + frameDuration > due else {
            due = time + credit
            return
        }
        self.due = due + credit
    }
}
