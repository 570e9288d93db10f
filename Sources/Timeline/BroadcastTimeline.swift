package import MediaCore

/// Maps the client's presentation times to one broadcast timeline that starts at zero and never jumps.
///
/// All tracks share one offset, so audio and video keep the relation that the client's PTS give them. The offset is
/// fixed: the media's own clock is authoritative, however it drifts against the daemon's. The broadcast clock,
/// `clockOffset`, follows the drift slowly.
///
/// If a track's PTS step, or lie too far from that clock, the client's clock has jumped, or stood still during a pause.
/// A new era then continues where the track was. The other tracks join the era when their own PTS take the same
/// step. One jump that three tracks see at three moments is therefore one rebase. `StepJudge` distinguishes a jump from
/// samples that are late, bursty or missing.
///
/// A client or a daemon that was stopped is late and has not jumped. Until its `Backlog` has arrived, samples that are
/// too late stay in their era, and get the earliest time within the tolerance.
///
/// A pure value; callers pass the time. PTS and durations come from a client and may have any value. None of them
/// traps, and accepted times lie within the tolerances of the broadcast clock. Only one thread (ingest) mutates it.
package struct BroadcastTimeline: Sendable {
    /// The maximum duration of an audio block that does not count as latency. A block has the PTS of its first sample,
    /// but can only arrive after its last one. The limit stops a client that stamps half-second bursts at their
    /// delivery from pushing the clock half a second ahead of its own video.
    private static let durationCredit: Int64 = 100_000_000
    /// The maximum elapsed time for which a single sample can slew the clock.
    private static let longestSlew: Int64 = 1_000_000_000
    private static let shortestFrame: Int64 = 1_000_000

    private let settings: TimelineSettings
    private var eras = ClockEras()
    private var tracks: InlineArray<3, TrackHistory> = .init(repeating: TrackHistory())
    private let judge: StepJudge
    private var latency = LatencyFilter()
    private var backlogs: InlineArray<3, Backlog> = .init(repeating: Backlog())
    private var offset: Int64 = 0
    private var offsetAtEra: Int64 = 0
    private var lastArrival: Int64 = 0
    private var lastVideo: Int64?
    /// All video so far is from before the start.
    private var isBeforeVideo = true
    package private(set) var counters = TimelineCounters()

    package init(settings: TimelineSettings = .init()) {
        self.settings = settings
        judge = StepJudge(settings)
    }

    /// False until the first sample has been placed.
    package var hasStarted: Bool { eras.newest >= 0 }

    /// The daemon's monotonic clock minus the broadcast's; zero before the start. It moves by at most `slewPerSecond`
    /// per second, and never by more than that at once. Publish it to the other threads after each `place`.
    package var clockOffset: MediaTime { MediaTime(nanoseconds: offset) }

    /// Places one sample.
    ///
    /// - Parameters:
    ///   - pts: the client's presentation time of the sample's start; any value.
    ///   - duration: the duration of an audio block; zero for video.
    ///   - arrival: when the sample had arrived, on the daemon's monotonic clock.
    ///   - running: the clock offset of a broadcast that has begun without a sample. Used only for the first sample,
    ///     which is then placed at its arrival.
    package mutating func place(
        _ track: TimelineTrack, pts: MediaTime, duration: MediaTime, arrival: MediaTime, running: MediaTime? = nil
    ) -> Placement {
        let duration = max(0, duration.nanoseconds)
        let credit = min(duration, Self.durationCredit)
        var sample = TimelineSample(track: track, pts: pts.nanoseconds, arrival: arrival.nanoseconds)
        counters.samples += 1

        var event: TimelineEvent?
        var goesOn = false
        if !hasStarted {
            offset = running?.nanoseconds ?? sample.arrival &- credit
            sample.due = sample.arrival &- credit &- offset
            begin(sample, at: sample.due, step: nil)
            event = .started
        } else {
            event = leaveLastingLateness(arrival: sample.arrival)
            sample.due = sample.arrival &- offset &- credit
            let verdict = judge.judge(sample, tracks[track.rawValue], in: eras, leastLatency: leastLateness)
            if verdict == .outOfOrder {
                tracks[track.rawValue].refuse(sample.pts)
                counters.refusedFrames += 1
                return Placement(time: MediaTime(nanoseconds: time(of: sample)), event: .notRising, isAccepted: false)
            }
            goesOn = verdict == .goesOn
            event = settle(sample, verdict) ?? event
        }

        let own = time(of: sample)
        let isTooLate = sample.due &- own > settings.behindTolerance.nanoseconds
        let time = isTooLate ? earliest(sample) : own
        tracks[track.rawValue].take(
            sample.pts, duration: track == .video ? nil : duration, goesOn: goesOn, late: sample.due &- own,
            isTooLate: isTooLate, arrival: sample.arrival)
        if goesOn { callBack(from: tracks[track.rawValue]) }
        if !isTooLate {
            backlogs[track.rawValue].end()
            follow(latency: sample.arrival &- time &- credit, arrival: sample.arrival)
        }
        return accept(track, time: time, end: time &+ duration, due: sample.due, event: event)
    }

    /// The time of a sample that is too late. Pictures keep their order: the last one of a backlog may be the one that
    /// stays on the screen.
    private func earliest(_ sample: TimelineSample) -> Int64 {
        let least = sample.due &- settings.behindTolerance.nanoseconds
        guard sample.track == .video, let lastVideo else { return least }
        return max(least, bounded(lastVideo &+ Self.shortestFrame, by: sample.due))
    }

    private func time(of sample: TimelineSample) -> Int64 {
        sample.pts &- (eras[tracks[sample.track.rawValue].era]?.base ?? sample.pts)
    }

    /// The least latency of recent samples relative to the broadcast clock; nil before there are enough samples.
    private var leastLateness: Int64? { latency.known.map { $0 &- offset } }

    // MARK: Eras

    /// Moves the sample's track to the era of the verdict, or to a new one.
    private mutating func settle(_ sample: TimelineSample, _ verdict: StepJudge.Verdict) -> TimelineEvent? {
        let history = tracks[sample.track.rawValue]
        var number = history.era
        switch verdict {
        case .goesOn, .stands, .outOfOrder: break
        case .joins(let other): number = other
        case .steps(let change):
            let target = sample.pts &- (eras[number]?.base ?? 0) &- change
            let step = ClockEras.Step(left: number, from: history.pts, to: sample.pts)
            return rebase(sample, at: bounded(target, by: sample.due), step: step)
        }
        guard let era = eras[number], settings.accepts(sample.deviation(in: era)) else {
            var target = sample.due
            if number == history.era, let own = eras[number], sample.deviation(in: own) < 0 {
                let (track, lateness) = (sample.track.rawValue, 0 &- sample.deviation(in: own))
                guard !backlogs[track].isArriving(lateness: lateness, arrival: sample.arrival) else { return nil }
                // The least late sample had the least jitter.
                target = sample.due &- (lateness &- backlogs[track].leastLateness)
                backlogs[track].end()
            }
            guard let fit = eras.bestFit(of: sample, within: settings) else {
                let event = rebase(sample, at: bounded(target, by: sample.due), step: nil)
                forgetLatency(arrival: sample.arrival)
                return event
            }
            return join(sample.track, fit)
        }
        return join(sample.track, number)
    }

    private mutating func join(_ track: TimelineTrack, _ number: Int) -> TimelineEvent? {
        let before = tracks[track.rawValue].era
        tracks[track.rawValue].era = number
        guard before >= 0, before != number else { return nil }
        counters.followed += 1
        return .followed
    }

    /// The time nearest to `target` within the tolerances of the clock.
    private func bounded(_ target: Int64, by due: Int64) -> Int64 {
        due &+ min(max(target &- due, -settings.behindTolerance.nanoseconds), settings.aheadTolerance.nanoseconds)
    }

    private mutating func rebase(_ sample: TimelineSample, at target: Int64, step: ClockEras.Step?) -> TimelineEvent {
        var target = target
        if sample.track == .video, let lastVideo {
            // Time continues after the last frame, but stays within the tolerance ahead of the clock.
            target = max(target, bounded(lastVideo &+ Self.shortestFrame, by: sample.due))
        }
        let old = eras[tracks[sample.track.rawValue].era] ?? eras[eras.newest]
        let change = target &- (sample.pts &- (old?.base ?? 0))
        if change < 0 { counters.jumpsForward += 1 } else { counters.jumpsBackward += 1 }
        begin(sample, at: target, step: step)
        return .rebased(by: MediaTime(nanoseconds: change))
    }

    private mutating func begin(_ sample: TimelineSample, at time: Int64, step: ClockEras.Step?) {
        if !hasStarted {
            forgetLatency(arrival: sample.arrival)
            lastArrival = sample.arrival
        }
        eras.append(base: sample.pts &- time, made: sample.arrival, step: step)
        tracks[sample.track.rawValue].era = eras.newest
    }

    /// Moves tracks back that stepped forward, if this track has continued evenly through the range that they stepped
    /// over. Their shared clock did not jump, so the step was a gap.
    private mutating func callBack(from history: TrackHistory) {
        for number in eras.numbers where number > history.era {
            guard let step = eras[number]?.step, step.left == history.era,
                step.to &- step.from > 0, step.to &- step.from <= settings.aheadTolerance.nanoseconds,
                step.from &- history.runStart >= 0, history.pts &- step.to >= 0
            else { continue }
            for track in TimelineTrack.allCases where tracks[track.rawValue].era == number {
                _ = join(track, history.era)
            }
        }
    }

    private mutating func leaveLastingLateness(arrival: Int64) -> TimelineEvent? {
        guard let least = latency.advance(to: arrival) else { return nil }
        let lateness = least &- offset
        guard lateness > settings.lastingLateness.nanoseconds else { return nil }
        eras.shift(by: lateness)
        forgetLatency(arrival: arrival)
        counters.latenessRebases += 1
        return .rebased(by: MediaTime(nanoseconds: lateness))
    }

    private mutating func forgetLatency(arrival: Int64) {
        latency.reset()
        _ = latency.advance(to: arrival)
        offsetAtEra = offset
    }

    // MARK: Clock and order

    private mutating func follow(latency sample: Int64, arrival: Int64) {
        latency.add(sample)
        let elapsed = min(max(0, arrival &- lastArrival), Self.longestSlew)
        lastArrival = max(lastArrival, arrival)
        guard let target = latency.minimum() else { return }
        let step = Int64(Double(elapsed) * settings.slewPerSecond.secondsAsDouble)
        offset &+= min(max(target &- offset, -step), step)
        let drift = MediaTime(nanoseconds: offset &- offsetAtEra).magnitude
        counters.largestDrift = max(counters.largestDrift, drift)
    }

    private mutating func accept(
        _ track: TimelineTrack, time: Int64, end: Int64, due: Int64, event: TimelineEvent?
    ) -> Placement {
        var time = time
        // Sound may begin before it is heard, and the pictures of a still screen before that sound. A picture is seen
        // until the next one comes, so the last one from before the start is the first that viewers see.
        if track == .video, isBeforeVideo {
            isBeforeVideo = time < 0
            time = max(time, bounded(lastVideo.map { $0 &+ Self.shortestFrame } ?? 0, by: due))
        }
        let place = MediaTime(nanoseconds: time)
        guard time >= 0 || end > 0 else {
            counters.beforeStart += 1
            return Placement(time: place, event: .beforeStart, isAccepted: false)
        }
        if track == .video {
            if let lastVideo, time <= lastVideo {
                counters.refusedFrames += 1
                return Placement(time: place, event: .notRising, isAccepted: false)
            }
            lastVideo = time
        }
        return Placement(time: place, event: event, isAccepted: true)
    }
}
