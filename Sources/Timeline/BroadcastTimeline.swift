package import MediaCore

/// Maps the client's presentation times to one broadcast timeline that starts at zero and never jumps.
///
/// All tracks share one offset, so audio and video stand to each other as the client's PTS say. The offset is rigid:
/// the media's own clock is the truth, however it drifts against ours. What follows the drift is the broadcast clock,
/// `broadcastTime(at:)`, slowly. When a PTS lands too far from that clock the client's clock has jumped (or stood still
/// during a pause): a new epoch continues at the broadcast clock, and the other tracks' samples join the epoch that
/// they fit best, so that one jump seen by three tracks at three moments is one rebase.
///
/// A pure value: time comes in as arguments. PTS and durations are a client's and may hold anything; nothing here traps
/// on them, and accepted times lie within the tolerances of the broadcast clock. One thread (ingest) mutates it.
package struct BroadcastTimeline: Sendable {
    /// An audio block's PTS is that of its first sample, though it can only arrive after its last: its duration is not
    /// latency. No more than this is believed, so that a client which stamps half-second bursts when it delivers
    /// them cannot push the clock half a second ahead of its own video.
    private static let durationCredit: Int64 = 100_000_000
    /// Elapsed time that a single sample may slew the clock for.
    private static let longestSlew: Int64 = 1_000_000_000
    private static let shortestFrame: Int64 = 1_000_000

    private let settings: TimelineSettings
    private var epochs = EpochTable()
    /// The epoch that each track's last sample was in; negative before its first.
    private var trackEpochs: InlineArray<3, Int> = .init(repeating: -1)
    private var latency = LatencyFilter()
    private var offset: Int64 = 0
    private var offsetAtEpoch: Int64 = 0
    private var lastArrival: Int64 = 0
    private var lastVideo: Int64?
    private var lastClock: Int64 = 0
    package private(set) var counters = TimelineCounters()

    package init(settings: TimelineSettings = .init()) {
        self.settings = settings
    }

    /// False until the first sample has been placed.
    package var hasStarted: Bool { epochs.newest >= 0 }

    /// Our monotonic clock minus the broadcast's; zero before the start. Moves by at most `slewPerSecond` for each
    /// second, and never by more than that at once. Publish it to the other threads after each `place`.
    package var clockOffset: MediaTime { MediaTime(nanoseconds: offset) }

    /// Where the broadcast's own clock stands when our monotonic clock reads `now`: never goes back, zero before the
    /// start.
    package mutating func broadcastTime(at now: MediaTime) -> MediaTime {
        if hasStarted { lastClock = max(lastClock, now.nanoseconds &- offset) }
        return MediaTime(nanoseconds: lastClock)
    }

    /// Places one sample.
    ///
    /// - Parameters:
    ///   - pts: the client's presentation time of the sample's start, any value.
    ///   - duration: of an audio block; zero for video.
    ///   - arrival: our monotonic clock when the sample had arrived.
    package mutating func place(
        _ track: TimelineTrack, pts: MediaTime, duration: MediaTime, arrival: MediaTime
    ) -> Placement {
        let pts = pts.nanoseconds
        let arrival = arrival.nanoseconds
        let credit = min(max(0, duration.nanoseconds), Self.durationCredit)
        counters.samples += 1

        var event: TimelineEvent?
        if !hasStarted {
            offset = arrival &- credit
            begin(base: pts, arrival: arrival, track: track)
            event = .started
        } else {
            event = leaveLastingLateness(arrival: arrival)
            let clock = arrival &- offset
            // Where the sample would stand if it had come without latency.
            let due = clock &- credit
            if let fit = bestEpoch(for: track, pts: pts, due: due, arrival: arrival) {
                if fit != trackEpochs[track.rawValue] {
                    if trackEpochs[track.rawValue] >= 0 {
                        counters.followed += 1
                        event = event ?? .followed
                    }
                    trackEpochs[track.rawValue] = fit
                }
            } else {
                event = rebase(track, pts: pts, due: due, arrival: arrival)
            }
        }

        let base = epochs[trackEpochs[track.rawValue]]?.base ?? pts
        let time = pts &- base
        follow(latency: arrival &- time &- credit, arrival: arrival)
        return accept(track, time: time, end: time &+ max(duration.nanoseconds, 0), event: event)
    }

    // MARK: Epochs

    /// The number of the epoch that the sample belongs to; nil when it fits none, and so has jumped.
    private func bestEpoch(for track: TimelineTrack, pts: Int64, due: Int64, arrival: Int64) -> Int? {
        let ahead = settings.aheadTolerance.nanoseconds
        let behind = settings.behindTolerance.nanoseconds
        func misfit(_ epoch: EpochTable.Epoch) -> UInt64? {
            let deviation = pts &- epoch.base &- due
            let isWithin = deviation >= 0 ? deviation <= ahead : deviation >= -behind
            return isWithin ? deviation.magnitude : nil
        }
        let own = trackEpochs[track.rawValue]
        var best: (number: Int, misfit: UInt64)?
        if let epoch = epochs[own], let misfit = misfit(epoch) { best = (own, misfit) }
        let fitsOwn = best != nil
        for number in epochs.numbers.reversed() where number != own {
            guard let epoch = epochs[number], let misfit = misfit(epoch) else { continue }
            // Leave an epoch that still fits only while a jump is fresh, to follow it or to return from it: later, a
            // sample that lies between two epochs is merely late.
            if fitsOwn {
                let jumped = number > own ? epoch.made : epochs[own]?.made ?? arrival
                guard arrival &- jumped <= settings.followWindow.nanoseconds else { continue }
            }
            if best.map({ misfit < $0.misfit }) ?? true { best = (number, misfit) }
        }
        return best?.number
    }

    private mutating func rebase(_ track: TimelineTrack, pts: Int64, due: Int64, arrival: Int64) -> TimelineEvent {
        var target = due
        if track == .video, let lastVideo {
            // Time goes on after the last frame, but no faster than the tolerance lets it run ahead of the clock.
            target = max(due, min(lastVideo &+ Self.shortestFrame, due &+ settings.aheadTolerance.nanoseconds))
        }
        let old = epochs[trackEpochs[track.rawValue]] ?? epochs[epochs.newest]
        let change = target &- (pts &- (old?.base ?? 0))
        if change < 0 { counters.jumpsForward += 1 } else { counters.jumpsBackward += 1 }
        begin(base: pts &- target, arrival: arrival, track: track)
        return .rebased(by: MediaTime(nanoseconds: change))
    }

    private mutating func begin(base: Int64, arrival: Int64, track: TimelineTrack) {
        epochs.append(base: base, made: arrival)
        trackEpochs[track.rawValue] = epochs.newest
        forgetLatency(arrival: arrival)
        lastArrival = arrival
    }

    private mutating func leaveLastingLateness(arrival: Int64) -> TimelineEvent? {
        guard let least = latency.advance(to: arrival) else { return nil }
        let lateness = least &- offset
        guard lateness > settings.lastingLateness.nanoseconds else { return nil }
        epochs.shift(by: lateness)
        forgetLatency(arrival: arrival)
        counters.latenessRebases += 1
        return .rebased(by: MediaTime(nanoseconds: lateness))
    }

    private mutating func forgetLatency(arrival: Int64) {
        latency.reset()
        _ = latency.advance(to: arrival)
        offsetAtEpoch = offset
    }

    // MARK: Clock and order

    private mutating func follow(latency sample: Int64, arrival: Int64) {
        latency.add(sample)
        let elapsed = min(max(0, arrival &- lastArrival), Self.longestSlew)
        lastArrival = max(lastArrival, arrival)
        guard let target = latency.minimum else { return }
        let step = Int64(Double(elapsed) * settings.slewPerSecond.secondsAsDouble)
        offset &+= min(max(target &- offset, -step), step)
        let drift = MediaTime(nanoseconds: offset &- offsetAtEpoch).magnitude
        counters.largestDrift = max(counters.largestDrift, drift)
    }

    private mutating func accept(
        _ track: TimelineTrack, time: Int64, end: Int64, event: TimelineEvent?
    ) -> Placement {
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
