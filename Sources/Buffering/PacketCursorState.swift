internal import MediaCore

/// What a cursor reads next and what it sheds. Pure; the caller locks the ring.
///
/// Packets come out in the order of their decode times, both tracks together, as far as the policy lets them wait for
/// the other track. Whatever the loss, what comes out decodes: the first video packet is a keyframe, and after a
/// reference frame has been left out no video comes until a keyframe. Audio is left out last.
struct PacketCursorState {
    enum Step: Equatable {
        case deliver(sequence: Int)
        /// There is nothing to read yet.
        case wait
        /// There is nothing to read, and no more packets follow.
        case ended
    }

    /// The state of the log at the time of reading.
    struct Moment {
        /// The newest decode time; after the log's end it goes on with the clock, so that a delay runs out.
        var newestDTS: MediaTime
        /// Whether no more packets follow. Then the cursor sheds nothing.
        var isEnded: Bool
    }

    /// A keyframe request is repeated after this much decode time.
    static let keyframeRetry = MediaTime.seconds(1)
    /// With low latency, video may be ahead of the newest audio by this much without waiting for it. The mixer and the
    /// AAC encoder make audio about 0.1 s late, 0.2 s where it comes in blocks of 0.1 s, so that nothing waits as a
    /// rule; with longer bursts it does, for SRS and players take steps of 0.25 s between the tracks for a break.
    static let lowLatencyLead = MediaTime.milliseconds(225)
    /// In strict order, by as much: an AAC packet is 1024 samples, 21.3 ms at 48 kHz, so that the next one is later.
    static let strictLead = MediaTime.milliseconds(21)
    /// And it waits no longer than this.
    static let longestHold = MediaTime.seconds(1)
    private static let leastFreshness = MediaTime.milliseconds(50)
    /// In strict order, audio waits as long for a picture of its time, longer by what the encoder delays, and longer
    /// where pictures have come later. A screen that stands still has none to wait for.
    static let leastAudioHold = MediaTime.milliseconds(100)

    let policy: CursorPolicy
    private(set) var drops = DropCounters()
    /// Each track's next sequence number to look at, and the packets of that track before it.
    private var next = TrackCounts()
    private var passed = TrackCounts()
    /// Decode time of the keyframe that the reader started with; nil until it has been delivered.
    private var startDTS: MediaTime?
    /// What packets that are passed over before the start are counted as: nothing at first, a loss after `restart`.
    private var skipCause: DropCause?
    private var awaitsKeyframe = true
    /// The newest decode time when a keyframe was last asked for.
    private var askedAt: MediaTime?

    init(policy: CursorPolicy) { self.policy = policy }

    /// The lowest sequence number that the cursor has not examined.
    var position: Int { min(next.video, next.audio) }

    /// A new connection: what comes next is a keyframe that has not been delivered before, and what is passed over on
    /// the way to it is counted as `cause`.
    mutating func restart(counting cause: DropCause) {
        guard startDTS != nil else { return }
        startDTS = nil
        skipCause = cause
        awaitsKeyframe = true
        askedAt = nil
    }

    /// The next packet that should go out, with the position moved past it and past all that was left out.
    ///
    /// - Parameter largest: the maximum payload size of the reader.
    mutating func next(in ring: PacketLogRing, at moment: Moment, largest: Int) -> Step {
        passEvicted(in: ring)
        let videoHorizon = horizon(of: .video, in: ring, at: moment)
        let audioHorizon = horizon(of: .audio, in: ring, at: moment)
        if startDTS == nil { seekStart(in: ring, horizon: videoHorizon, at: moment) }
        while let sequence = earliest(in: ring) {
            let entry = ring[sequence]
            let horizon = entry.info.track == .video ? videoHorizon : audioHorizon
            guard entry.info.dts <= horizon else { break }
            next[entry.info.track] = sequence + 1
            passed[entry.info.track] += 1
            // After the end of the log, nothing is late.
            let lag = moment.isEnded ? .zero : lateness(of: entry, due: horizon, at: moment)
            let verdict =
                entry.info.track == .video
                ? judgeVideo(entry, lag: lag, largest: largest) : judgeAudio(entry, lag: lag, largest: largest)
            switch verdict {
            case .deliver: return .deliver(sequence: sequence)
            case .beforeStart: count(1, of: entry.info.track, as: skipCause)
            case .drop(let cause): count(1, of: entry.info.track, as: cause)
            }
        }
        return moment.isEnded && earliest(in: ring) == nil ? .ended : .wait
    }

    /// Whether the encoder should be asked for a keyframe now; says so once for each need, and again each
    /// `keyframeRetry`.
    mutating func takeKeyframeRequest(in ring: PacketLogRing, at moment: Moment) -> Bool {
        guard awaitsKeyframe, !moment.isEnded else { return false }
        if let keyframe = ring.newestKeyframe, keyframe >= next.video,
            isFresh(ring[keyframe], horizon: horizon(of: .video, in: ring, at: moment), at: moment)
        { return false }
        if let askedAt, ring.newestDTS - askedAt < Self.keyframeRetry { return false }
        askedAt = ring.newestDTS
        return true
    }

    /// How far the next packet of either track is behind what should have gone out by now; what waits on purpose is not
    /// late.
    func lag(in ring: PacketLogRing, at moment: Moment) -> MediaTime {
        max(lag(of: .video, in: ring, at: moment), lag(of: .audio, in: ring, at: moment))
    }

    private func lag(of track: Track, in ring: PacketLogRing, at moment: Moment) -> MediaTime {
        // The packets between belong to the other track, and may be delivered.
        let unread = (max(next[track], ring.first)..<ring.end).lazy.map { ring[$0] }
        guard let entry = unread.first(where: { $0.info.track == track && $0.missing != .takenBack }) else {
            return .zero
        }
        // Before the first audio packet, it is unknown whether video waits for audio.
        let mayWait = !moment.isEnded && ring.lastDTS.audio != nil
        let due = mayWait ? horizon(of: track, in: ring, at: moment) : moment.newestDTS - delay(in: ring)
        return max(.zero, lateness(of: entry, due: min(due, ring.newestDTS), at: moment))
    }

    /// By how much a packet is later than it was due, or than it was written: what an encoder delays is not late.
    private func lateness(of entry: PacketLogEntry, due: MediaTime, at moment: Moment) -> MediaTime {
        min(due - entry.info.dts, moment.newestDTS - entry.writtenAt)
    }

    /// Packets of both tracks that the cursor has not examined.
    func unread(in ring: PacketLogRing) -> Int {
        let written = ring.counts(before: ring.end)
        return written.video - passed.video + written.audio - passed.audio
    }

    // MARK: What is due

    /// Packets of the track up to this decode time may go out.
    private func horizon(of track: Track, in ring: PacketLogRing, at moment: Moment) -> MediaTime {
        let due = moment.newestDTS - delay(in: ring)
        // No more packets follow, so there is nothing to wait for.
        guard !moment.isEnded else { return due }
        let isStrict = policy.interleaving == .strict
        switch track {
        case .video:
            let lead = isStrict ? Self.strictLead : Self.lowLatencyLead
            let longest = moment.newestDTS - Self.longestHold
            guard let audio = ring.lastDTS.audio else {
                // The first sound comes after the first picture; where none has come for long, there is none. By then
                // the first picture must not be too old to begin with.
                let hold = moment.newestDTS - min(Self.longestHold, policy.hardLimit - Self.leastFreshness)
                let isBeginning = isStrict && hold < ring.firstDTS ?? moment.newestDTS
                return isBeginning ? min(due, hold) : due
            }
            return min(due, max(audio + lead, longest))
        case .audio:
            guard isStrict, let video = ring.lastDTS.video else { return due }
            // As late as another was by a packet of sound more: one may be written just before the picture is.
            let late = min(ring.videoLateness + Self.strictLead, Self.longestHold)
            let hold = max(Self.leastAudioHold + ring.encoderDelay, late)
            return min(due, max(video, moment.newestDTS - hold))
        }
    }

    private func delay(in ring: PacketLogRing) -> MediaTime { min(policy.delay, ring.limits.maxDelay) }

    /// The next packet of either track with the lower decode time.
    private mutating func earliest(in ring: PacketLogRing) -> Int? {
        pass(.video, in: ring)
        pass(.audio, in: ring)
        guard next.video < ring.end else { return next.audio < ring.end ? next.audio : nil }
        guard next.audio < ring.end else { return next.video }
        return ring[next.audio].info.dts < ring[next.video].info.dts ? next.audio : next.video
    }

    /// Passes the other track's packets, and those that were taken back: they are in nobody's way, whenever they would
    /// have been due.
    private mutating func pass(_ track: Track, in ring: PacketLogRing) {
        while next[track] < ring.end {
            let entry = ring[next[track]]
            if entry.info.track == track {
                guard entry.missing == .takenBack else { return }
                passed[track] += 1
                count(1, of: track, as: startDTS == nil ? skipCause : .takenBack)
                if track == .video, entry.info.priority != .disposable { awaitsKeyframe = true }
            }
            next[track] += 1
        }
    }

    private enum Verdict {
        case deliver
        case beforeStart
        case drop(DropCause)
    }

    private mutating func judgeVideo(_ entry: PacketLogEntry, lag: MediaTime, largest: Int) -> Verdict {
        if let cause = entry.missing ?? (entry.byteCount > largest ? .tooLarge : nil) {
            if entry.info.priority != .disposable { awaitsKeyframe = true }
            return .drop(cause)
        }
        if lag > policy.hardLimit {
            awaitsKeyframe = true
            return .drop(.late)
        }
        if awaitsKeyframe {
            guard entry.info.isKeyframe else { return .drop(.undecodable) }
            awaitsKeyframe = false
            askedAt = nil
            if startDTS == nil { startDTS = entry.info.dts }
            return .deliver
        }
        return entry.info.priority == .disposable && lag > policy.softLimit ? .drop(.disposable) : .deliver
    }

    private func judgeAudio(_ entry: PacketLogEntry, lag: MediaTime, largest: Int) -> Verdict {
        guard let startDTS, entry.info.dts >= startDTS else { return .beforeStart }
        if let cause = entry.missing ?? (entry.byteCount > largest ? .tooLarge : nil) { return .drop(cause) }
        return lag > policy.audioLimit ? .drop(.late) : .deliver
    }

    private mutating func count(_ packets: Int, of track: Track, as cause: DropCause?) {
        if let cause { drops[track][cause] += packets }
    }

    /// Counts what the log forgot before it was read. What the frames were is no longer known, so lost video is
    /// taken for a lost reference frame.
    private mutating func passEvicted(in ring: PacketLogRing) {
        for track in [Track.video, .audio] where next[track] < ring.first {
            let lost = ring.counts(before: ring.first)[track] - passed[track]
            count(lost, of: track, as: startDTS == nil ? skipCause : .evicted)
            if track == .video, lost > 0 { awaitsKeyframe = true }
            next[track] = ring.first
            passed[track] += lost
        }
    }

    // MARK: The start

    /// Goes to the keyframe to start with, or, where there is none, past everything written so far.
    private mutating func seekStart(in ring: PacketLogRing, horizon: MediaTime, at moment: Moment) {
        let start = startingPoint(in: ring, horizon: horizon, at: moment) ?? ring.end
        let before = ring.counts(before: start)
        for track in [Track.video, .audio] where next[track] < start {
            count(before[track] - passed[track], of: track, as: skipCause)
            next[track] = start
            passed[track] = before[track]
        }
    }

    /// The newest keyframe that is due and not too old to be shown to anybody, or else the first that will be due.
    private func startingPoint(in ring: PacketLogRing, horizon: MediaTime, at moment: Moment) -> Int? {
        var ahead: Int?
        for sequence in stride(from: ring.end - 1, through: max(next.video, ring.first), by: -1) {
            let entry = ring[sequence]
            guard entry.info.track == .video, entry.info.isKeyframe, entry.missing == nil else { continue }
            if entry.info.dts <= horizon {
                return moment.isEnded || isFresh(entry, horizon: horizon, at: moment) ? sequence : ahead
            }
            ahead = sequence
        }
        return ahead
    }

    private func isFresh(_ entry: PacketLogEntry, horizon: MediaTime, at moment: Moment) -> Bool {
        lateness(of: entry, due: horizon, at: moment) <= policy.hardLimit
    }
}
