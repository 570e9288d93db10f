internal import MediaCore

/// Decides when a frame is due at the canvas's frame rate. A pure value, so tests need no clock.
///
/// A source may be faster than the canvas. A frame that comes too early is held, and a newer one replaces it. The
/// last frame of a burst is still shown, a little later, because no newer frame follows on a screen that then stands
/// still.
struct FramePacer {
    enum Decision: Equatable {
        /// Encode now.
        case due
        /// Hold the frame. Encode it this long after its arrival unless a newer one has come.
        case wait(MediaTime)
    }

    private let fullDuration: MediaTime
    private(set) var frameDuration: MediaTime
    private var due: MediaTime?

    init(_ frameRate: FrameRate) {
        fullDuration = frameRate.frameDuration
        frameDuration = fullDuration
    }

    /// From now on one frame in `divisor` is due.
    mutating func divide(by divisor: Int) { frameDuration = fullDuration * Int64(divisor) }

    /// Frames of a source at exactly the canvas's rate come with jitter: up to a quarter of a frame early counts as
    /// due.
    private var tolerance: MediaTime { MediaTime(nanoseconds: frameDuration.nanoseconds / 4) }
    /// A source up to 5 % above the canvas's rate passes completely, because holding its frames back would only add
    /// latency.
    private var credit: MediaTime { MediaTime(nanoseconds: frameDuration.nanoseconds / 20 * 19) }

    /// Decides about a frame that is to be shown at `time`.
    func decide(_ time: MediaTime) -> Decision {
        guard let due, time < due - tolerance else { return .due }
        return .wait(due + tolerance - time)
    }

    /// Records that a frame for `time` has been encoded.
    mutating func encoded(_ time: MediaTime) {
        guard let due, time < due + frameDuration, time + frameDuration + frameDuration > due else {
            due = time + credit
            return
        }
        self.due = due + credit
    }
}
