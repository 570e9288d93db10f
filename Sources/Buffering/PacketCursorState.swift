internal import MediaCore

/// Decides what a cursor reads next and what it sheds. Pure; the caller locks the ring.
///
/// Packets of both tracks come out by decode time, as far as the policy lets one track wait for the other. The output
/// is always decodable: the first video packet is a keyframe, and after a dropped reference frame no video comes until
/// the next keyframe. Audio is shed last.
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
        /// The newest decode time. After the log's end it advances with the clock, so that a delay ends.
        var newestDTS: MediaTime
        /// Whether no more packets follow. Then the cursor sheds nothing.
        var isEnded: Bool
    }

    /// A keyframe request is repeated after this much decode time.
    static let keyframeRetry = MediaTime.seconds(1)
    /// With low latency, video may be ahead of the newest audio by this much without waiting for it. The mixer and the
    /// AAC encoder make audio about 0.1 s late, or 0.2 s if it comes in blocks of 0.1 s, so that video normally does
    /// not wait. It waits for longer bursts, because SRS and players treat steps of 0.25 s between the tracks as a
    /// break.
    static let lowLatencyLead = MediaTime.milliseconds(225)
    /// The same in strict order. An AAC packet is 1024 samples, 21.3 ms at 48 kHz, so that the next one is later.
    static let strictLead = MediaTime.milliseconds(21)
    /// The longest time that video waits for audio.
    static let longestHold = MediaTime.seconds(1)
    private static let leastFreshness = MediaTime.milliseconds(50)
    /// In strict order, audio waits at least this long for a picture of its time. It waits longer by the encoder's
    /// delay, or if earlier pictures were later. A still screen has no picture to wait for. A packet of sound leaves
    /// the encoder 69 ms or more after its time, so a picture that takes 0.2 s is still in order. If sound comes before
    /// its time, it leaves earlier by as much.
    static let leastAudioHold = MediaTime.milliseconds(150)

    let policy: CursorPolicy
    private(set) var drops = DropCounters()
    /// For each track, the next sequence number to examine, and the number of the track's packets before it.
    private var next = TrackCounts()
    private var passed = TrackCounts()
    /// Decode time of the keyframe that the reader started with; nil until its delivery.
    private var startDTS: MediaTime?
    /// The cause that counts packets before the start: none at first, a loss after `restart`.
    private var skipCause: DropCause?
    private var awaitsKeyframe = true
    /// The newest decode time when a keyframe was last requested.
    private var askedAt: MediaTime?

    init(policy: CursorPolicy) { self.policy = policy }

    /// The lowest sequence number that the cursor has not examined.
    var position: Int { min(next.video, next.audio) }

    /// Prepares for a new connection: see `PacketCursor.restart`.
    mutating func restart(counting cause: DropCause) {
        guard startDTS != nil else { return }
        startDTS = nil
        skipCause = cause
        awaitsKeyframe = true
        askedAt = nil
    }

    /// Returns the next packet to send, and moves the position past it and past all dropped packets.
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

    /// Whether the encoder should be asked for a keyframe now. True once for each need, and again each `keyframeRetry`.
    mutating func takeKeyframeRequest(in ring: PacketLogRing, at moment: Moment) -> Bool {
        guard awaitsKeyframe, !moment.isEnded else { return false }
        if let keyframe = ring.newestKeyframe, keyframe >= next.video,
            isFresh(ring[keyframe], horizon: horizon(of: .video, in: ring, at: moment), at: moment)
        { return false }
        if let askedAt, ring.newestDTS - askedAt < Self.keyframeRetry { return false }
        askedAt = ring.newestDTS
        return true
    }

    /// How far the next packet of either track is behind the packets that are due now. A packet that is held back on
    /// purpose is not late.
    func lag(in ring: PacketLogRing, at moment: Moment) -> MediaTime {
        max(lag(of: .video, in: ring, at: moment), lag(of: .audio, in: ring, at: moment))
    }

    private func lag(of track: Track, in ring: PacketLogRing, at moment: Moment) -> MediaTime {
        // The packets in between belong to the other track, and may be delivered already.
        let unread = (max(next[track], ring.first)..<ring.end).lazy.map { ring[$0] }
        guard let entry = unread.first(where: { $0.info.track == track && $0.missing != .takenBack }) else {
            return .zero
        }
        // Before the first audio packet, it is unknown whether video waits for audio.
        let mayWait = !moment.isEnded && ring.lastDTS.audio != nil
        let due = mayWait ? horizon(of: track, in: ring, at: moment) : moment.newestDTS - delay(in: ring)
        return max(.zero, lateness(of: entry, due: min(due, ring.newestDTS), at: moment))
    }

    /// How late a packet is: counted from when it was due or from when it was written, whichever gives less. The
    /// encoder's delay does not count.
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
                // The first sound comes after the first picture. If none comes for long, the client sends no sound. The
                // wait ends while the first picture is still fresh enough to start with.
                let hold = moment.newestDTS - min(Self.longestHold, policy.hardLimit - Self.leastFreshness)
                let isBeginning = isStrict && hold < ring.firstDTS ?? moment.newestDTS
                return isBeginning ? min(due, hold) : due
            }
            return min(due, max(audio + lead, longest))
        case .audio:
            guard isStrict, let video = ring.lastDTS.video else { return due }
            // One sound packet more than the latest picture needed, because a sound packet may be written just before
            // the picture.
            let late = min(ring.videoLateness + Self.strictLead, Self.longestHold)
            let hold = max(Self.leastAudioHold + ring.encoderDelay, late)
            return min(due, max(video, moment.newestDTS - hold))
        }
    }

    private func delay(in ring: PacketLogRing) -> MediaTime { min(policy.delay, ring.limits.maxDelay) }

    /// Of the next packets of both tracks, the one with the lower decode time.
    private mutating func earliest(in ring: PacketLogRing) -> Int? {
        pass(.video, in: ring)
        pass(.audio, in: ring)
        guard next.video < ring.end else { return next.audio < ring.end ? next.audio : nil }
        guard next.audio < ring.end else { return next.video }
        return ring[next.audio].info.dts < ring[next.video].info.dts ? next.audio : next.video
    }

    /// Passes packets of the other track, and packets that were taken back, which must not delay others until they are
    /// due.
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

    /// Counts packets that the log evicted before they were read. Their frame types are unknown, so lost video counts
    /// as a lost reference frame.
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

    /// Moves to the keyframe to start with or, without one, past everything written so far.
    private mutating func seekStart(in ring: PacketLogRing, horizon: MediaTime, at moment: Moment) {
        let start = startingPoint(in: ring, horizon: horizon, at: moment) ?? ring.end
        let before = ring.counts(before: start)
        for track in [Track.video, .audio] where next[track] < start {
            count(before[track] - passed[track], of: track, as: skipCause)
            next[track] = start
            passed[track] = before[track]
        }
    }

    /// The newest keyframe that is due and within the hard limit, or else the first one that will be due.
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
