package import MediaCore

/// Sends the samples of an input with several tracks when they are due, each with its own time.
package struct TimedFeed {
    /// How early parts of a packet are sent, at most. The daemon buffers a second of sound.
    private static let maxLead = MediaTime.seconds(1)

    private let input: any TimedInput
    private let schedule: OrientationSchedule
    private let settings: FeedSettings
    private let clock: any FeedClock

    package init(
        _ input: any TimedInput, schedule: OrientationSchedule, settings: FeedSettings, clock: any FeedClock
    ) {
        self.input = input
        self.schedule = schedule
        self.settings = settings
        self.clock = clock
    }

    /// Runs until the input ends, the duration is over or the clock is stopped.
    ///
    /// - Parameters:
    ///   - memory: returns the memory for the next picture. The previous memory was sent or is no longer needed.
    ///   - leftOut: called for each picture that was too late to send.
    ///   - send: sends the last sample, with its time on the clock and the orientation of a picture.
    package func run(
        into memory: VideoSource.Memory, leftOut: () -> Void = {},
        _ send: (SampleTrack, MediaTime, OrientationTag?) throws -> Void
    ) throws {
        var timeline = InputTimeline()
        var pace = Pace(settings, clock)
        var settling: [SampleTrack: SettlingAudio] = [.appAudio: SettlingAudio(), .microphone: SettlingAudio()]
        var isFirst = true
        while true {
            let asked = clock.now()
            guard let sample = try unsafe input.advance(into: memory) else {
                if isFirst { throw InputError.emptyStream }
                return
            }
            isFirst = false
            if timeline.isWallClock(sample.time), settling[sample.track]?.takes(sample) == false { continue }
            let time = timeline.time(of: sample, now: clock.now(), sinceEpoch: clock.sinceEpoch())
            switch pace.wait(until: time, lead: min(sample.lead, Self.maxLead), asked: asked) {
            case .end: return
            // A stream with times is not a live pipe.
            case .skip, .unsteady: break
            case .leaveOut: if sample.track == .video { leftOut() }
            case .send(let pts): try send(sample.track, pts, sample.track == .video ? schedule.tag(at: time) : nil)
            }
        }
    }
}
