internal import MediaCore

/// What a cursor reads next and what it leaves out: pure, on a ring that somebody else keeps still meanwhile.
///
/// Whatever the loss, what comes out decodes: the first video packet is a keyframe, and after a reference frame has
/// been left out no video comes until a keyframe. Audio is left out only where the log no longer has it.
struct PacketCursorState {
    enum Step: Equatable {
        case deliver(sequence: Int)
        /// Nothing to read as yet.
        case wait
        /// Nothing to read, and nothing will come.
        case ended
    }

    /// A keyframe that was asked for and has not come is asked for again after this much decode time.
    static let keyframeRetry = MediaTime.seconds(1)

    let policy: CursorPolicy
    private(set) var drops = DropCounters()
    /// The next sequence number to look at.
    private(set) var position = 0
    /// Packets of each track before `position`.
    private var passed = TrackCounts()
    /// Decode time of the first keyframe delivered; nil until then.
    private var startDTS: MediaTime?
    private var awaitsKeyframe = true
    /// The newest decode time when a keyframe was last asked for.
    private var askedAt: MediaTime?

    init(policy: CursorPolicy) { self.policy = policy }

    /// The next packet that should go out, with `position` moved past it and past all that was left out.
    ///
    /// - Parameters:
    ///   - isEnded: no more packets will be written, so being late costs nobody anything.
    ///   - largest: payload bytes that the reader can take.
    mutating func next(in ring: PacketLogRing, isEnded: Bool, largest: Int) -> Step {
        passEvicted(in: ring)
        if startDTS == nil { seekStart(in: ring, isEnded: isEnded) }
        while position < ring.end {
            let sequence = position
            let entry = ring[sequence]
            position += 1
            passed[entry.info.track] += 1
            let verdict =
                entry.info.track == .video
                ? judgeVideo(entry, lag: ring.newestDTS - entry.info.dts, isEnded: isEnded, largest: largest)
                : judgeAudio(entry, largest: largest)
            switch verdict {
            case .deliver: return .deliver(sequence: sequence)
            case .beforeStart: continue
            case .drop(let cause): drops[entry.info.track][cause] += 1
            }
        }
        return isEnded ? .ended : .wait
    }

    /// Whether the encoder should be asked for a keyframe now; says so once for each need, and again each
    /// `keyframeRetry`.
    mutating func takeKeyframeRequest(in ring: PacketLogRing, isEnded: Bool) -> Bool {
        guard awaitsKeyframe, !isEnded else { return false }
        if let keyframe = ring.newestKeyframe, keyframe >= position, isFresh(keyframe, in: ring) { return false }
        if let askedAt, ring.newestDTS - askedAt < Self.keyframeRetry { return false }
        askedAt = ring.newestDTS
        return true
    }

    private enum Verdict {
        case deliver
        case beforeStart
        case drop(DropCause)
    }

    private mutating func judgeVideo(_ entry: PacketLogEntry, lag: MediaTime, isEnded: Bool, largest: Int) -> Verdict {
        if let cause = entry.missing ?? (entry.byteCount > largest ? .tooLarge : nil) {
            if entry.info.priority != .disposable { awaitsKeyframe = true }
            return .drop(cause)
        }
        if lag > policy.hardLimit && !isEnded {
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
        if entry.info.priority == .disposable && lag > policy.softLimit && !isEnded { return .drop(.disposable) }
        return .deliver
    }

    private func judgeAudio(_ entry: PacketLogEntry, largest: Int) -> Verdict {
        guard let startDTS, entry.info.dts >= startDTS else { return .beforeStart }
        if let cause = entry.missing ?? (entry.byteCount > largest ? .tooLarge : nil) { return .drop(cause) }
        return .deliver
    }

    /// Counts what the log forgot before it was read. What the frames were is no longer known, so lost video is
    /// taken for a lost reference frame.
    private mutating func passEvicted(in ring: PacketLogRing) {
        guard position < ring.first else { return }
        let now = ring.counts(before: ring.first)
        if startDTS != nil {
            drops.video.evicted += now.video - passed.video
            drops.audio.evicted += now.audio - passed.audio
            if now.video > passed.video { awaitsKeyframe = true }
        }
        move(to: ring.first, in: ring)
    }

    /// Goes to the newest keyframe, or, where that is too old to be shown to anybody, past everything written so far.
    private mutating func seekStart(in ring: PacketLogRing, isEnded: Bool) {
        guard let keyframe = ring.newestKeyframe, keyframe >= position, isEnded || isFresh(keyframe, in: ring) else {
            return move(to: ring.end, in: ring)
        }
        move(to: keyframe, in: ring)
    }

    private mutating func move(to sequence: Int, in ring: PacketLogRing) {
        position = sequence
        passed = ring.counts(before: sequence)
    }

    private func isFresh(_ keyframe: Int, in ring: PacketLogRing) -> Bool {
        ring.newestDTS - ring[keyframe].info.dts <= policy.hardLimit
    }
}
