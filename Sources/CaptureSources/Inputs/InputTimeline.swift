internal import MediaCore

/// Turns the times of an input with several tracks into times since its first sample. Pure.
///
/// The first sample of any track is at zero. All tracks keep their distance to it, so that tracks in sync stay in sync.
/// Only a step of the input's clock moves the tracks, all by the same amount.
///
/// ffmpeg with `-copyts` writes when each sample of a live source was captured, as a time since 1970. The first
/// sample's time is then before zero by its own latency. Otherwise, each later sample would wait for that long.
struct InputTimeline {
    /// A larger distance is a step of the clock, and not a picture that stays for a while.
    static let step = MediaTime.seconds(10)
    /// The threshold for times since 1970, as ffmpeg writes them with `-copyts`: they advance as fast as the local
    /// clock.
    static let wallClockStep = MediaTime.milliseconds(500)
    private static let wallClock = MediaTime.seconds(1_000_000_000)
    /// A larger latency is not believed, because the clock of another machine may be anything.
    private static let maxLatency = MediaTime.seconds(5)

    /// The time of the input that maps to zero.
    private var zero: MediaTime?
    /// The end of the latest sample so far.
    private var end = MediaTime.zero
    private var lastPicture: MediaTime?
    private var lastArrival = MediaTime.zero

    /// Whether a time is a capture time since 1970.
    func isWallClock(_ time: MediaTime) -> Bool { time > Self.wallClock }

    /// - Parameters:
    ///   - sample: the next sample of the input.
    ///   - now: when it was read.
    ///   - sinceEpoch: the same moment, since 1970.
    mutating func time(of sample: TimedSample, now: MediaTime, sinceEpoch: MediaTime) -> MediaTime {
        defer { lastArrival = now }
        guard let zero else {
            let latency = sinceEpoch - sample.time
            let isLive = isWallClock(sample.time) && latency > .zero && latency < Self.maxLatency
            self.zero = isLive ? sinceEpoch : sample.time
            end = isLive ? .zero - latency : .zero
            return note(end, sample)
        }
        let time = sample.time - zero
        guard sample.isRestart || isStep(to: time, of: sample, now) else { return note(time, sample) }
        self.zero = sample.time - end
        return note(end, sample)
    }

    private func isStep(to time: MediaTime, of sample: TimedSample, _ now: MediaTime) -> Bool {
        let distance = time - end
        guard isWallClock(sample.time) else { return distance.magnitude > Self.step }
        // A late sample also arrives late.
        return distance - (now - lastArrival) > Self.wallClockStep || distance < MediaTime.zero - Self.step
    }

    private mutating func note(_ time: MediaTime, _ sample: TimedSample) -> MediaTime {
        var duration = sample.duration
        if sample.track == .video {
            // A picture lasts as long as the one before it, where that is likely.
            if let lastPicture, time > lastPicture { duration = min(time - lastPicture, .milliseconds(100)) }
            lastPicture = time
        }
        end = max(end, time + duration)
        return time
    }
}
