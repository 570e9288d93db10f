package import MediaCore

/// How a track is sent.
package struct FeedSettings: Sendable {
    /// Where the broadcast begins on the clock: the time of the first sample of every track that is not live.
    package var origin: MediaTime
    /// False sends each sample as soon as it is there.
    package var isPaced: Bool
    /// Ends the feed before the first sample that would be later than this after the origin.
    package var duration: MediaTime?

    package init(origin: MediaTime, isPaced: Bool = true, duration: MediaTime? = nil) {
        self.origin = origin
        self.isPaced = isPaced
        self.duration = duration
    }

    func isOver(_ pts: MediaTime) -> Bool { duration.map { pts - origin >= $0 } ?? false }
}

/// Sends a source's frames when they are due. Deadlines are absolute, counted from the first frame: a late frame makes
/// no later one late.
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

    /// Runs until the source ends, the duration is over or the clock says stop.
    ///
    /// - Parameter send: is given the source with a frame in it, the frame's time on the clock and its orientation.
    package func run(_ send: (any VideoSource, MediaTime, OrientationTag?) throws -> Void) throws {
        var start = settings.origin
        let rate = source.rate
        for frame in Int64(0)... {
            let time = MediaTime(sample: frame * Int64(rate.denominator), rate: rate.numerator)
            let tag = schedule.tag(at: time)
            if !source.isLive, settings.isOver(start + time) { return }
            guard try source.advance(frame: frame, time: time, orientation: tag) else { return }
            if frame == 0, source.isLive { start = max(start, clock.now()) }
            if settings.isOver(start + time) { return }
            guard clock.wait(until: settings.isPaced ? start + time : .zero) else { return }
            try send(source, start + time, tag)
        }
    }
}

/// Sends an input's PCM in runs, each when its first frame is due.
package struct AudioFeed {
    private let input: any AudioInput
    private let settings: FeedSettings
    private let clock: any FeedClock
    /// 20 ms a message.
    private static let runsPerSecond = 50

    package init(_ input: any AudioInput, settings: FeedSettings, clock: any FeedClock) {
        self.input = input
        self.settings = settings
        self.clock = clock
    }

    /// Runs until the input ends, the duration is over or the clock says stop.
    ///
    /// - Parameter send: is given the input with samples in it and the time of their first frame on the clock.
    package func run(_ send: (any AudioInput, MediaTime) throws -> Void) throws {
        var start = settings.origin
        let rate = input.format.sampleRate
        var sent: Int64 = 0
        while true {
            if !input.isLive, settings.isOver(start + MediaTime(sample: sent, rate: rate)) { return }
            let frames = try input.advance(frames: rate / Self.runsPerSecond)
            if frames == 0 { return }
            if sent == 0, input.isLive { start = max(start, clock.now()) }
            let pts = start + MediaTime(sample: sent, rate: rate)
            if settings.isOver(pts) { return }
            guard clock.wait(until: settings.isPaced ? pts : .zero) else { return }
            try send(input, pts)
            sent += Int64(frames)
        }
    }
}
