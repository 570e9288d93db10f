internal import MediaCore

/// Decides when a track's samples are due, relative to the common start. Does not wait if the time has passed.
struct Pace {
    enum Turn {
        /// The sample is due, at this time on the clock.
        case send(MediaTime)
        /// The sample was too late.
        case leaveOut
        /// The sample is from before the start.
        case skip
        /// The clock was stopped, or the duration is over.
        case end
        /// The pipe is live, and its samples come in bursts that differ by this much, so that their times are unknown.
        case unsteady(MediaTime)
    }

    private let settings: FeedSettings
    private let clock: any FeedClock
    private var lateness = Lateness()
    /// The time of the track's first sample on the clock; nil before the common start.
    private var origin: MediaTime?
    /// The end of the observation. Live samples from before it are not sent.
    private var liveStart: MediaTime?
    /// Follows the arrivals of a live pipe.
    private var fit: ArrivalFit?
    /// How far one sample may move the times back.
    private static let slew = MediaTime.milliseconds(2)

    init(_ settings: FeedSettings, _ clock: any FeedClock) {
        self.settings = settings
        self.clock = clock
    }

    /// - Parameter time: the time of a sample, relative to the track's first one.
    func isOver(at time: MediaTime) -> Bool {
        guard let origin, let start = settings.start.time, let duration = settings.duration else { return false }
        return origin + time - start >= duration
    }

    /// Waits for the other tracks, and determines where this one begins.
    private mutating func begin() {
        guard let start = settings.start.arrived(settings.name, at: clock.now()) else { return }
        guard let live = settings.live else { return origin = start }
        guard clock.wait(until: start + LiveStart.observation) else { return }
        let captured = live.origin(clock.now())
        guard let areLive = live.start.agree(settings.name, isLive: captured != nil) else { return }
        if let captured, areLive {
            (origin, liveStart) = (captured, start + LiveStart.observation)
            fit = ArrivalFit(origin: captured, slew: Self.slew)
        } else {
            origin = start
        }
    }

    /// Waits until the current sample is due. The first one waits for the other tracks.
    ///
    /// - Parameters:
    ///   - time: the time of the sample, relative to the track's first one.
    ///   - length: the length of a block of audio.
    ///   - lead: how much earlier the sample is sent.
    ///   - asked: when the reader began to read the sample.
    mutating func wait(
        until time: MediaTime, length: MediaTime = .zero, lead: MediaTime = .zero, asked: MediaTime
    ) -> Turn {
        if origin == nil { begin() }
        follow(time, length)
        guard let origin else { return .end }
        // What follows an early sample may be due before the end.
        if isOver(at: time) { return lead > .zero && clock.wait(until: .zero) ? .skip : .end }
        if let fit, fit.isUnsteady { return .unsteady(fit.largestFall) }
        if let liveStart, origin + time < liveStart { return clock.wait(until: .zero) ? .skip : .end }
        guard settings.isPaced else { return clock.wait(until: .zero) ? .send(origin + time) : .end }
        let now = clock.now()
        switch verdict(due: origin + time, asked: asked, now: now) {
        case .leaveOut: return clock.wait(until: .zero) ? .leaveOut : .end
        case .moveUp(let lost): self.origin = origin + lost
        case .send: break
        }
        let pts = (self.origin ?? origin) + time
        return clock.wait(until: pts - lead) ? .send(pts) : .end
    }

    /// Moves the origin of a live pipe to the value that the sample's arrival implies.
    private mutating func follow(_ time: MediaTime, _ length: MediaTime) {
        guard fit != nil, let captured = settings.live?.captured() else { return }
        origin = fit?.note(time, captured: captured - length)
    }

    /// For a live pipe, the origin already accounts for the time that the source has lost.
    private mutating func verdict(due: MediaTime, asked: MediaTime, now: MediaTime) -> Lateness.Verdict {
        guard fit != nil else { return lateness.judge(due: due, asked: asked, now: now) }
        return now - due > Lateness.most ? .leaveOut : .send
    }
}
