internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// The body of the thread `up-video`: takes the newest picture, waits until it is due, and encodes it.
///
/// When no picture comes for the idle interval, the one that is shown is encoded again, so that servers, which give up
/// after 5 to 10 s without data, and players stay with a screen that stands still. When the curtain has been raised, it
/// is drawn over what is shown, and fills what was taken back.
final class VideoWorker: @unchecked Sendable /* all state belongs to the video thread */ {
    private let slot: FrameSlot<VideoFrameTag>
    /// `FrameSlot.take`, which waits by the machine's clock; tests wait by their own.
    private let takeFrame: (MediaTime?) -> FrameSlot<VideoFrameTag>.Outcome
    private let encoder: RunningEncoder
    private var shown: ShownPicture
    private let clock: BroadcastClock
    private let counters: BroadcastCounters
    private let snapshots: SnapshotBooth
    private let curtain: Curtain
    /// What is shown has changed, and is encoded as soon as a frame is due.
    private var owesFrame = false
    /// What was encoded last had been encoded before, or is the curtain.
    private var lastWasRepeat = false
    /// Monotonic clock.
    private var curtainDrawnAt: MediaTime?
    /// How often the curtain had been raised when it was last drawn, or a picture shown.
    private var epoch: UInt32
    /// Waits for what was taken back when the curtain was raised for the nth time; nil where the broadcast ends.
    private let takenBack: @Sendable (UInt32) -> TakenBack?
    private let onFailure: @Sendable (String) -> Void
    /// A frame from being taken to being encoded.
    let work = WorkMark("the video thread")
    private var fillLimit = FillLimit()
    private var schedule: PresentationSchedule

    init(
        slot: FrameSlot<VideoFrameTag>, encoder: RunningEncoder, shown: ShownPicture, clock: BroadcastClock,
        counters: BroadcastCounters, snapshots: SnapshotBooth, curtain: Curtain, schedule: PresentationSchedule,
        takenBack: @escaping @Sendable (UInt32) -> TakenBack?, onFailure: @escaping @Sendable (String) -> Void,
        takeFrame: ((MediaTime?) -> FrameSlot<VideoFrameTag>.Outcome)? = nil
    ) {
        self.slot = slot
        self.takeFrame = takeFrame ?? { slot.take(until: $0) }
        self.encoder = encoder
        self.shown = shown
        self.clock = clock
        self.counters = counters
        self.snapshots = snapshots
        self.curtain = curtain
        self.schedule = schedule
        self.takenBack = takenBack
        self.onFailure = onFailure
        epoch = curtain.stamp.epoch
    }

    /// Runs until the slot is closed and empty, then drains the encoder.
    func run() {
        work.begin()
        defer { work.end() }
        do throws(WorkerFailure) {
            while try step() {}
            try encoder.finish()
        } catch {
            onFailure(error.sentence)
            drainSlot()
        }
    }

    /// One frame, or one repeat; false when the slot is closed.
    private func step() throws(WorkerFailure) -> Bool {
        let epoch = curtain.stamp.epoch
        if epoch != self.epoch, !hasJustDrawnCurtain { try drawCurtain(epoch) }
        if shown.coverStandingRegions() { owesFrame = true }
        let deadline = repeatDeadline()
        switch take(until: deadline) {
        case .frame(let picture, let tag):
            guard tag.stamp == curtain.stamp else {
                slot.recycle(picture)
                counters.framesCurtained.add()
                break
            }
            shown.show(picture, tag)
            try present(tag)
        case .again(let tag): try present(tag)
        case .timeout: try repeatPicture()
        // Frequent wake-ups must not delay a repeat.
        case .woken: if clock.monotonic.now() >= deadline { try repeatPicture() }
        case .closed: return false
        }
        return true
    }

    /// Waiting is no work.
    private func take(until deadline: MediaTime?) -> FrameSlot<VideoFrameTag>.Outcome {
        work.end()
        defer { work.begin() }
        return takeFrame(deadline)
    }

    /// Encodes what is shown when it is due; while it is not, a newer one takes its place.
    private func present(_ first: VideoFrameTag) throws(WorkerFailure) {
        var tag = first
        holding: while case .hold(let wait) = schedule.decide(tag.time) {
            switch take(until: tag.arrival + wait) {
            case .frame(let newer, let newerTag):
                shown.show(newer, newerTag)
                tag = newerTag
                counters.framesAboveRate.add()
            case .again(let newerTag):
                tag = newerTag
                counters.framesAboveRate.add()
            case .timeout, .closed: break holding
            case .woken:
                guard tag.stamp == curtain.stamp else { return counters.framesCurtained.add() }
                // The first one after a curtain is not left to a repeat, of which there is none before it.
                if tag.stamp.epoch != epoch { break holding }
                // It is shown already, and goes out with the next repeat.
                owesFrame = true
                return counters.framesAboveRate.add()
            }
        }
        // The curtain was raised after this frame was taken: it is drawn over what is shown.
        guard tag.stamp == curtain.stamp else { return counters.framesCurtained.add() }
        var time = tag.time
        if tag.stamp.epoch != epoch {
            time = try fillUnseenCurtain(tag.stamp.epoch, upTo: time)
            guard tag.stamp == curtain.stamp else { return counters.framesCurtained.add() }
        }
        shown.reveal()
        try encode(time, arrival: tag.arrival)
        counters.framesEncoded.add()
        let latency = clock.monotonic.now() - tag.arrival
        counters.encodeLatency.withLock { $0.note(latency) }
    }

    // MARK: The curtain

    /// How often it is encoded, so that the stream has a steady rate while it is up.
    private static let curtainInterval = MediaTime.milliseconds(100)

    /// Repeated raises are not drawn and encoded one by one; nothing else is shown meanwhile.
    private var hasJustDrawnCurtain: Bool {
        curtainDrawnAt.map { clock.monotonic.now() < $0 + Self.curtainInterval } ?? false
    }

    /// Covers what is shown, and fills what was taken back with it.
    private func drawCurtain(_ epoch: UInt32) throws(WorkerFailure) {
        shown.coverStandingRegions()
        // Nothing is encoded until it is there, so the time is taken afterwards.
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        curtainDrawnAt = now
        let end = schedule.repeatTime(at: now)
        shown.drawCurtain()
        let last = enter(epoch, taken)
        // Nothing has been shown yet: the first frame comes as ever.
        guard let end else { return }
        // What filling takes must not be missing at its end: sound goes on meanwhile, and video that is behind it by
        // too much is late for ever. Where encoding does not keep up, a gap is left.
        func upToNow() -> MediaTime { end + (clock.monotonic.now() - now) }
        if let last {
            try fill(from: last, upTo: upToNow, most: 2 * Self.pictures(from: last, to: end), epoch)
        }
        try encode(upToNow(), arrival: .zero)
        counters.framesRepeated.add()
    }

    /// A curtain was raised and lowered again before it was drawn: what that took back is filled with a curtain that
    /// takes the place of what is shown meanwhile. Where no picture is free for it, a gap is left.
    ///
    /// - Returns: when what is shown comes afterwards: later than `end` by what filling took.
    private func fillUnseenCurtain(_ epoch: UInt32, upTo end: MediaTime) throws(WorkerFailure) -> MediaTime {
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        func upToNow() -> MediaTime { end + (clock.monotonic.now() - now) }
        guard let last = enter(epoch, taken), let covered = shown.coverForNow() else { return end }
        defer { shown.uncover(covered) }
        try fill(from: last, upTo: upToNow, most: 2 * Self.pictures(from: last, to: end), epoch)
        return upToNow()
    }

    private static func pictures(from begin: MediaTime, to end: MediaTime) -> Int64 {
        max(0, (end - begin).nanoseconds / curtainInterval.nanoseconds)
    }

    /// Encodes what is shown, which is the curtain, until another raise takes that back, too.
    private func fill(
        from last: MediaTime, upTo end: () -> MediaTime, most: Int64, _ epoch: UInt32
    ) throws(WorkerFailure) {
        var (time, left) = (last + Self.curtainInterval, most)
        while left > 0, time < end() - Self.curtainInterval,
            fillLimit.goesOn(epoch, current: curtain.stamp, isEnding: slot.isClosed, at: clock.monotonic.now())
        {
            // With a long delay these are hundreds.
            work.begin()
            try encode(time, arrival: .zero)
            time += Self.curtainInterval
            left -= 1
        }
    }

    // MARK: Epochs

    /// From now on what is encoded belongs to this epoch, and begins with a keyframe. Returns where the stream goes on,
    /// if it goes back.
    @discardableResult
    private func enter(_ epoch: UInt32, _ taken: TakenBack?) -> MediaTime? {
        self.epoch = epoch
        let last = taken?.lastVideo
        encoder.goBack(to: last, epoch: epoch)
        if let last { schedule.goBack(to: last) }
        return last
    }

    // MARK: A screen that stands still

    /// When the last picture has to be encoded again. Before the first sample the broadcast has no time yet: look again
    /// soon.
    private func repeatDeadline() -> MediaTime {
        let now = clock.monotonic.now()
        if let curtainDrawnAt, curtain.stamp.epoch != epoch {
            return curtainDrawnAt + Self.curtainInterval
        }
        if owesFrame, let time = schedule.repeatTime(at: now) {
            if case .hold(let wait) = schedule.decide(time) { return now + wait }
            return now
        }
        return schedule.deadline(after: repeatInterval)
            ?? clock.monotonicTime(of: firstFrameDeadline) ?? now + schedule.idleInterval
    }

    /// What an encoder holds comes out only as more goes in. At a repeat now and then the last picture, or the curtain,
    /// would take seconds. A client's next frame is not overtaken.
    private var repeatInterval: MediaTime {
        let interval = shown.isCurtained ? Self.curtainInterval : schedule.idleInterval
        guard encoder.holdsFrames else { return interval }
        return min(interval, lastWasRepeat ? schedule.frameDuration : schedule.frameDuration * 2)
    }

    /// A client that sends only audio gets the plain background as its picture, from half a second on.
    private var firstFrameDeadline: MediaTime { .milliseconds(500) }

    private func repeatPicture() throws(WorkerFailure) {
        // What is shown is not to be any more.
        guard curtain.stamp.epoch == epoch, let now = clock.now() else { return }
        if let time = schedule.repeatTime(at: clock.monotonic.now()) {
            try encode(time, arrival: .zero)
        } else {
            guard now >= firstFrameDeadline else { return }
            try encode(.zero, arrival: .zero)
            // What repeats it goes with the sound of its time, not half a second behind.
            schedule.catchUp(to: now, at: clock.monotonic.now())
        }
        counters.framesRepeated.add()
    }

    // MARK: Encoding

    private func encode(_ time: MediaTime, arrival: MediaTime) throws(WorkerFailure) {
        // The last moment at which what has been named can be kept out.
        shown.coverStandingRegions()
        let now = clock.monotonic.now()
        let pts = schedule.encode(time, at: now)
        owesFrame = false
        lastWasRepeat = arrival == .zero
        if let step = try encoder.prepare(for: pts, at: now) { schedule.divide(by: step.frameRateDivisor) }
        try encoder.encode(
            shown.picture.planes, pts: pts, arrival: arrival, epoch: epoch, superseded: { slot.superseded })
        snapshots.pass(shown.picture, epoch: epoch, regions: shown.regions)
    }

    /// After a failure: pictures go back unencoded until the broadcast is closed.
    private func drainSlot() {
        while true {
            switch take(until: nil) {
            case .frame(let picture, _): slot.recycle(picture)
            case .again, .timeout, .woken: continue
            case .closed: return
            }
        }
    }
}
