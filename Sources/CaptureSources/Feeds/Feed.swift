package import MediaCore

package struct FeedSettings: Sendable {
    /// Determines the time of each track's first sample.
    package var start: CommonStart
    /// The track's name in `start`.
    package var name: String
    /// False sends each sample as soon as it is read.
    package var isPaced: Bool
    /// Set if the input is one of several pipes. If all of these are live, their samples are stamped by arrival.
    package var live: LivePipe?
    /// The feed ends before the first sample that is later than `duration` after the common start.
    package var duration: MediaTime?

    package init(start: CommonStart, name: String, isPaced: Bool = true, duration: MediaTime? = nil) {
        self.start = start
        self.name = name
        self.isPaced = isPaced
        self.duration = duration
    }
}

/// Sends a source's frames when they are due. Deadlines are relative to the first frame, so that a late frame does not
/// delay later ones.
package struct VideoFeed {
    private let source: any VideoSource
    private let schedule: OrientationSchedule
    private let settings: FeedSettings
    private let clock: any FeedClock

    package init(
        _ source: any VideoSource, schedule: OrientationSchedule, settings: FeedSettings, clock: any FeedClock
    ) {
        self.source = source
        self.schedule = schedule
        self.settings = settings
        self.clock = clock
    }

    /// Runs until the source ends, the duration is over or the clock is stopped.
    ///
    /// - Parameters:
    ///   - memory: returns the memory for the next frame. The previous memory was sent or is no longer needed.
    ///   - leftOut: called for each frame that was too late to send.
    ///   - send: sends the last frame, with its time on the clock and its orientation.
    package func run(
        into memory: VideoSource.Memory, leftOut: () -> Void = {}, _ send: (MediaTime, OrientationTag?) throws -> Void
    ) throws {
        let rate = source.rate
        var pace = Pace(settings, clock)
        for frame in Int64(0)... {
            let time = MediaTime(sample: frame * Int64(rate.denominator), rate: rate.numerator)
            let tag = schedule.tag(at: time)
            if pace.isOver(at: time) { return }
            let asked = clock.now()
            guard try unsafe source.advance(frame: frame, time: time, orientation: tag, into: memory) else {
                if frame == 0 { throw InputError.emptyVideo(source) }
                return
            }
            switch pace.wait(until: time, asked: asked) {
            case .end: return
            case .leaveOut: leftOut()
            case .skip: break
            case .send(let pts): try send(pts, tag)
            case .unsteady(let by): throw InputError.unsteady(settings.name, by)
            }
        }
    }
}

/// Sends an input's PCM in blocks, each when its first frame is due.
package struct AudioFeed {
    private let input: any AudioInput
    private let settings: FeedSettings
    private let clock: any FeedClock
    /// Blocks of 20 ms.
    private static let runsPerSecond = 50

    package init(_ input: any AudioInput, settings: FeedSettings, clock: any FeedClock) {
        self.input = input
        self.settings = settings
        self.clock = clock
    }

    /// Runs until the input ends, the duration is over or the clock is stopped.
    ///
    /// - Parameter send: receives the input with its samples, and the time of their first frame on the clock.
    package func run(_ send: (any AudioInput, MediaTime) throws -> Void) throws {
        let rate = input.format.sampleRate
        var pace = Pace(settings, clock)
        var sent: Int64 = 0
        while true {
            let time = MediaTime(sample: sent, rate: rate)
            if pace.isOver(at: time) { return }
            let asked = clock.now()
            let frames = try input.advance(frames: rate / Self.runsPerSecond)
            if frames == 0 {
                if sent == 0 { throw InputError.emptyAudio }
                return
            }
            let length = MediaTime(sample: Int64(frames), rate: rate)
            switch pace.wait(until: time, length: length, asked: asked) {
            case .end: return
            case .leaveOut, .skip: break
            case .send(let pts): try send(input, pts)
            case .unsteady(let by): throw InputError.unsteady(settings.name, by)
            }
            sent += Int64(frames)
        }
    }
}
