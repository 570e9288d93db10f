internal import MediaCore

/// Decides which frames must be keyframes, by time: frame counts lie when frames come unevenly.
struct KeyframeSchedule {
    /// From one keyframe to the next at most.
    let interval: MediaTime
    /// A frame this little early is taken instead of one that comes too late: half a frame's duration.
    let tolerance: MediaTime
    private var last: MediaTime?

    init(interval: MediaTime, frameDuration: MediaTime) {
        self.interval = interval
        tolerance = MediaTime(nanoseconds: frameDuration.nanoseconds / 2)
    }

    /// Whether a keyframe is due at `time`.
    func isDue(at time: MediaTime) -> Bool { last.map { time - $0 + tolerance >= interval } ?? true }

    /// Whether the frame at `time` must be a keyframe; a frame for which it is true counts as one.
    mutating func mustForce(at time: MediaTime, requested: Bool) -> Bool {
        guard requested || isDue(at: time) else { return false }
        noteKeyframe(at: time)
        return true
    }

    /// The encoder made a keyframe, whether asked or not.
    mutating func noteKeyframe(at time: MediaTime) {
        if last.map({ $0 < time }) ?? true { last = time }
    }
}
