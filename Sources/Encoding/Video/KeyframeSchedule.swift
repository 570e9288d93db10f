internal import MediaCore

/// Decides which frames must be keyframes, by time. Frame counts would be wrong if frames come unevenly.
struct KeyframeSchedule {
    /// The maximum time between two keyframes.
    let interval: MediaTime
    /// Half a frame's duration. A frame that is early by up to this becomes the keyframe, because the next would be
    /// late.
    let tolerance: MediaTime
    private var last: MediaTime?

    init(interval: MediaTime, frameDuration: MediaTime) {
        self.interval = interval
        tolerance = MediaTime(nanoseconds: frameDuration.nanoseconds / 2)
    }

    func isDue(at time: MediaTime) -> Bool { last.map { time - $0 + tolerance >= interval } ?? true }

    /// Whether the frame at `time` must be a keyframe. If so, it counts as one.
    mutating func mustForce(at time: MediaTime, requested: Bool) -> Bool {
        guard requested || isDue(at: time) else { return false }
        noteKeyframe(at: time)
        return true
    }

    /// Notes a keyframe of the encoder, requested or not.
    mutating func noteKeyframe(at time: MediaTime) {
        if last.map({ $0 < time }) ?? true { last = time }
    }
}
