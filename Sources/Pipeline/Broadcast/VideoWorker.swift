internal import Buffering
internal import Encoding
internal import FrameGeometry
internal import LinuxSystem
internal import MediaCore
internal import Privacy
internal import Synchronization

/// The body of the thread `up-video`: takes the newest picture and encodes it.
///
/// Owns the encoder, which another may replace to save memory, and holds the picture that is shown. When none comes for
/// the idle interval that one is encoded again, so that servers, which give up after 5 to 10 s without data, and
/// players stay with a screen that stands still.
final class VideoWorker: @unchecked Sendable /* all state but the wishes belongs to the video thread */ {
    private let slot: FrameSlot<VideoFrameTag>
    /// Nil only while one takes another's place: two never hold memory at once.
    private var open: VideoEncoder?
    /// What the first encoder was opened with.
    private let settings: VideoEncoderSettings
    private var chosen: EncoderChoice
    private var effort: EffortControl?
    private var shown: Picture
    private let sink: any PacketSink
    private let clock: BroadcastClock
    private let counters: BroadcastCounters
    private let snapshots: SnapshotBooth
    private let curtain: Curtain
    private let painter: CurtainPainter
    private let standing: StandingRegions
    private let secureColor: CanvasColor
    /// How what is shown came onto the canvas, and which standing regions it hides; nil for the curtain and at the
    /// start.
    private var shownPlan: GeometryPlan?
    private var shownRegions: UInt32 = 0
    /// What is shown has changed, and is encoded as soon as a frame is due.
    private var owesFrame = false
    /// What was encoded last had been encoded before, or is the curtain.
    private var lastWasRepeat = false
    /// Monotonic clock.
    private var curtainDrawnAt: MediaTime?
    /// How often the curtain had been raised when it was last drawn, or a picture shown.
    private var epoch: UInt32 = 0
    /// What is shown is the curtain.
    private var isCurtained = true
    /// Waits for what was taken back when the curtain was raised for the nth time; nil where the broadcast ends.
    private let takenBack: @Sendable (UInt32) -> TakenBack?
    /// What the links ask of the encoder, if that has changed; called before each frame.
    private let adapt: @Sendable (MediaTime) -> BitrateStep?
    private let onEffort: @Sendable (EffortStep) -> Void
    private let onFailure: @Sendable (String) -> Void
    /// A frame from being taken to being encoded.
    let work = WorkMark("the video thread")
    /// Frames until it hangs, for a test.
    private var framesUntilFreeze: Int?
    private var fillLimit = FillLimit()

    private let keyframeWanted = Atomic(false)
    private let savingsWanted = Atomic<UInt8>(0)
    private let effortInForce: Monitor<VideoEffort?>
    private var schedule: PresentationSchedule

    /// - Parameters:
    ///   - encoder: opened with `settings`.
    ///   - effort: what decides the encoder's effort; nil where a preset does.
    ///   - onEffort: called on the video thread when the effort changes.
    init(
        slot: FrameSlot<VideoFrameTag>, encoder: VideoEncoder, settings: VideoEncoderSettings,
        effort: EffortControl?, shown: Picture, sink: any PacketSink,
        clock: BroadcastClock, counters: BroadcastCounters, snapshots: SnapshotBooth, curtain: Curtain,
        painter: CurtainPainter, standing: StandingRegions, secureColor: CanvasColor, frameRate: FrameRate,
        idleInterval: MediaTime,
        takenBack: @escaping @Sendable (UInt32) -> TakenBack?, freeze: TestFreeze? = nil,
        adapt: @escaping @Sendable (MediaTime) -> BitrateStep?, onEffort: @escaping @Sendable (EffortStep) -> Void,
        onFailure: @escaping @Sendable (String) -> Void
    ) {
        framesUntilFreeze = freeze?.encoderFrames
        self.slot = slot
        open = encoder
        self.settings = settings
        self.effort = effort
        chosen = EncoderChoice(effort: effort?.effort)
        effortInForce = Monitor(effort?.effort)
        self.shown = shown
        self.sink = sink
        self.clock = clock
        self.counters = counters
        self.snapshots = snapshots
        self.curtain = curtain
        self.painter = painter
        self.standing = standing
        self.secureColor = secureColor
        self.takenBack = takenBack
        epoch = curtain.stamp.epoch
        self.adapt = adapt
        self.onEffort = onEffort
        self.onFailure = onFailure
        schedule = PresentationSchedule(frameRate, idleInterval: idleInterval)
    }

    /// Any thread: the next frame becomes a keyframe.
    func requestKeyframe() { keyframeWanted.store(true, ordering: .relaxed) }

    /// Any thread: what the encoder is to do without from now on, because memory is short. It changes with the next
    /// frame or the one after, which becomes a keyframe.
    func save(_ savings: EncoderSavings) { savingsWanted.store(savings.rawValue, ordering: .relaxed) }

    /// Any thread: the effort with which it encodes; nil where a preset decides.
    var currentEffort: VideoEffort? { effortInForce.withLock { $0 } }

    private var encoder: VideoEncoder {
        guard let open else { preconditionFailure("no encoder is open") }
        return open
    }

    /// Runs until the slot is closed and empty, then drains the encoder.
    func run() {
        work.begin()
        defer { work.end() }
        do throws(WorkerFailure) {
            while try step() {}
            try encoding { () throws(EncodingError) in try encoder.finish(into: sink) }
        } catch {
            onFailure(error.sentence)
            drainSlot()
        }
    }

    /// One frame, or one repeat; false when the slot is closed.
    private func step() throws(WorkerFailure) -> Bool {
        let epoch = curtain.stamp.epoch
        if epoch != self.epoch, !hasJustDrawnCurtain { try drawCurtain(epoch) }
        if standing.version != shownRegions, cover() { owesFrame = true }
        let deadline = repeatDeadline()
        switch take(until: deadline) {
        case .frame(let picture, let tag):
            guard tag.stamp == curtain.stamp else {
                slot.recycle(picture)
                counters.framesCurtained.add()
                break
            }
            show(picture, tag)
            try present(tag)
        case .again(let tag): try present(tag)
        case .timeout: try repeatPicture()
        // Who wakes without end keeps no repeat back either.
        case .woken: if clock.monotonic.now() >= deadline { try repeatPicture() }
        case .closed: return false
        }
        return true
    }

    /// Waiting is no work.
    private func take(until deadline: MediaTime?) -> FrameSlot<VideoFrameTag>.Outcome {
        work.end()
        defer { work.begin() }
        return slot.take(until: deadline)
    }

    /// Encodes what is shown when it is due; while it is not, a newer one takes its place.
    private func present(_ first: VideoFrameTag) throws(WorkerFailure) {
        var tag = first
        holding: while case .hold(let wait) = schedule.decide(tag.time) {
            switch take(until: tag.arrival + wait) {
            case .frame(let newer, let newerTag):
                show(newer, newerTag)
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
        isCurtained = false
        try encode(time, arrival: tag.arrival)
        counters.framesEncoded.add()
        let latency = clock.monotonic.now() - tag.arrival
        counters.encodeLatency.withLock { $0.note(latency) }
    }

    private func show(_ picture: Picture, _ tag: VideoFrameTag? = nil) {
        slot.recycle(shown)
        shown = picture
        shownPlan = tag?.plan
        shownRegions = tag?.regions ?? standing.version
    }

    // MARK: The curtain

    /// How often it is encoded, so that the stream has a steady rate while it is up.
    private static let curtainInterval = MediaTime.milliseconds(100)

    /// Somebody raises it without end: nothing else is shown meanwhile, and it is not encoded for each time.
    private var hasJustDrawnCurtain: Bool {
        curtainDrawnAt.map { clock.monotonic.now() < $0 + Self.curtainInterval } ?? false
    }

    /// Covers what is shown, and fills what was taken back with it.
    private func drawCurtain(_ epoch: UInt32) throws(WorkerFailure) {
        if standing.version != shownRegions { cover() }
        // Nothing is encoded until it is there, so the time is taken afterwards.
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        curtainDrawnAt = now
        let end = schedule.repeatTime(at: now)
        // Ingest may still be comparing with what is shown.
        let picture = slot.acquire() ?? shown
        painter.paint(picture.planes, after: shown.planes)
        // The curtain is where the bars were.
        picture.renewSerial()
        if picture !== shown { show(picture) }
        shownPlan = nil
        isCurtained = true
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
        guard let last = enter(epoch, taken), let cover = slot.acquireFree() else { return end }
        painter.paint(cover.planes, after: nil)
        cover.renewSerial()
        let (next, nextPlan, nextRegions) = (shown, shownPlan, shownRegions)
        (shown, shownPlan) = (cover, nil)
        defer {
            slot.recycle(cover)
            (shown, shownPlan, shownRegions) = (next, nextPlan, nextRegions)
        }
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

    // MARK: Standing regions

    /// Paints over what has been named since what is shown was taken, on a screen that may stand still. What is not
    /// named any more comes back with the client's next picture. False where there is nothing to paint.
    @discardableResult
    private func cover() -> Bool {
        shownRegions = standing.version
        guard let plan = shownPlan else { return clearGlass() }
        var regions = SecureRegions()
        standing.hide(
            in: &regions, width: plan.source.width, height: plan.source.height, transform: plan.transform)
        guard !regions.isEmpty else { return false }
        slot.forgetNewest()
        // Ingest may still be comparing with what is shown.
        if let picture = slot.acquire() {
            picture.copySamples(of: shown)
            slot.recycle(shown)
            shown = picture
        }
        CanvasRedaction.paint(regions, of: plan, on: shown.planes, secureColor)
        return true
    }

    /// Where what has been named was, nobody can say of frosted glass: nothing shows through it any more.
    private func clearGlass() -> Bool {
        guard isCurtained, painter.showsThrough, !standing.all.isEmpty else { return false }
        painter.paint(shown.planes, after: nil)
        return true
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
        requestKeyframe()
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
        let interval = isCurtained ? Self.curtainInterval : schedule.idleInterval
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
        if standing.version != shownRegions { cover() }
        let now = clock.monotonic.now()
        let pts = schedule.encode(time, at: now)
        owesFrame = false
        lastWasRepeat = arrival == .zero
        try chooseEncoder(for: pts)
        if let step = adapt(now) {
            schedule.divide(by: step.frameRateDivisor)
            try encoding { () throws(EncodingError) in try encoder.setBitrate(step.bitrate) }
        }
        let force = keyframeWanted.exchange(false, ordering: .relaxed)
        if let frames = framesUntilFreeze {
            guard frames > 0 else { TestFreeze.forEver() }
            framesUntilFreeze = frames - 1
        }
        let begin = clock.monotonic.now()
        try encoding { () throws(EncodingError) in
            try encoder.encode(shown.planes, pts: pts, forceKeyframe: force, arrival: arrival, epoch: epoch, into: sink)
        }
        let end = clock.monotonic.now()
        if let step = effort?.note(took: end - begin, now: end, superseded: { slot.superseded }) { onEffort(step) }
        snapshots.pass(shown, epoch: epoch, regions: shownRegions)
    }

    /// Another encoder, where memory or the processor asks for one. A better picture waits for a keyframe that is due.
    private func chooseEncoder(for pts: MediaTime) throws(WorkerFailure) {
        let savings = EncoderSavings(rawValue: savingsWanted.load(ordering: .relaxed))
        let wanted = EncoderChoice(savings: savings, effort: effort?.effort)
        guard wanted != chosen, !encoder.endsWithKeyframe else { return }
        if chosen.canWait(for: wanted), !encoder.isKeyframeDue(at: pts) { return }
        try changeEncoder(to: wanted)
    }

    /// Closes the encoder and goes on with other settings.
    private func changeEncoder(to choice: EncoderChoice) throws(WorkerFailure) {
        chosen = choice
        effortInForce.withLock { $0 = choice.effort }
        let next = choice.settings(settings)
        let format = encoder.format
        try encoding { () throws(EncodingError) in try encoder.finish(into: sink) }
        let continuation = encoder.continuation
        open = nil
        try encoding { () throws(EncodingError) in open = try VideoEncoder(next, continuing: continuation) }
        guard encoder.format.decoderConfiguration == format.decoderConfiguration else {
            throw WorkerFailure(sentence: "encoding failed: the encoder's parameter sets changed")
        }
        ProcessMemory.releaseFreed()
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
