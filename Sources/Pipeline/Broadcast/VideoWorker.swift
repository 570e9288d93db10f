internal import Adaptation
internal import Buffering
internal import LinuxSystem
internal import Measurement
internal import MediaCore
internal import Painting
internal import Privacy

/// The body of the thread `up-video`: takes the newest picture, waits until it is due, and encodes it.
///
/// If no picture comes for the idle interval, the shown one is encoded again. This keeps servers, which give up after
/// 5 to 10 s without data, and players connected while a screen stands still. After a raise, the curtain is drawn
/// over the shown picture and fills the gap of the take-back.
final class VideoWorker: @unchecked Sendable /* all state belongs to the video thread */ {
    private let slot: FrameSlot<VideoFrameTag>
    private let output: VideoOutput
    private let drawer: CurtainDrawer
    private let clock: BroadcastClock
    private let counters: BroadcastCounters
    private let curtain: Curtain
    private let onFailure: @Sendable (String) -> Void
    /// Covers a frame from being taken to being encoded.
    let work: WorkMark

    /// - Parameter takenBack: waits for the take-back of the raise that began this epoch; returns nil if the broadcast
    ///   ends.
    init(
        slot: FrameSlot<VideoFrameTag>, encoder: RunningEncoder, shown: ShownPicture, clock: BroadcastClock,
        counters: BroadcastCounters, snapshots: SnapshotBooth, curtain: Curtain, schedule: PresentationSchedule,
        takenBack: @escaping @Sendable (CurtainEpoch) -> TakenBack?, onFailure: @escaping @Sendable (String) -> Void
    ) {
        work = WorkMark("the video thread")
        output = VideoOutput(
            shown, schedule, encoder, clock: clock, snapshots: snapshots, epoch: curtain.stamp.epoch,
            superseded: { slot.superseded })
        drawer = CurtainDrawer(
            output, curtain, clock: clock, counters: counters, work: work, isEnding: { slot.isClosed },
            takenBack: takenBack)
        self.slot = slot
        self.clock = clock
        self.counters = counters
        self.curtain = curtain
        self.onFailure = onFailure
    }

    /// Runs until the slot is closed and empty, then drains the encoder.
    func run() {
        work.begin()
        defer { work.end() }
        do throws(WorkerFailure) {
            while try step() {}
            try output.encoder.finish()
        } catch {
            onFailure(error.sentence)
            drainSlot()
        }
    }

    /// Encodes one frame or one repeat. Returns false if the slot is closed.
    private func step() throws(WorkerFailure) -> Bool {
        try drawer.drawIfRaised()
        drawer.takePainter()
        output.coverStandingRegions()
        let deadline = repeatDeadline()
        switch take(until: deadline) {
        case .frame(let picture, let tag):
            guard tag.stamp == curtain.stamp else {
                slot.recycle(picture)
                counters.framesCurtained.add()
                break
            }
            output.shown.show(picture, tag)
            try present(tag)
        case .again(let tag): try present(tag)
        case .timeout: try repeatPicture()
        // Frequent wake-ups must not delay a repeat.
        case .woken: if clock.monotonic.now() >= deadline { try repeatPicture() }
        case .closed: return false
        }
        return true
    }

    /// Any thread: paints the curtain with `painter` from now on.
    func use(_ painter: sending CurtainPainter) {
        drawer.use(painter)
        slot.wake()
    }

    /// Waiting does not count as work.
    private func take(until deadline: MediaTime?) -> FrameSlot<VideoFrameTag>.Outcome {
        work.end()
        defer { work.begin() }
        return slot.take(until: deadline)
    }

    /// Encodes the shown picture when it is due. Until then, a newer one replaces it.
    private func present(_ first: VideoFrameTag) throws(WorkerFailure) {
        var tag = first
        waiting: while case .wait(let wait) = output.schedule.decide(tag.time) {
            switch take(until: tag.arrival + wait) {
            case .frame(let newer, let newerTag):
                guard newerTag.stamp == curtain.stamp else {
                    slot.recycle(newer)
                    counters.framesCurtained.add()
                    continue waiting
                }
                output.shown.show(newer, newerTag)
                tag = newerTag
                counters.framesAboveRate.add()
            case .again(let newerTag):
                tag = newerTag
                counters.framesAboveRate.add()
            case .timeout, .closed: break waiting
            case .woken:
                guard tag.stamp == curtain.stamp else { return counters.framesCurtained.add() }
                // The first frame of an epoch cannot wait for a repeat, because no repeat comes before an epoch's first
                // frame.
                if tag.stamp.epoch != output.epoch { break waiting }
                // The picture is already shown, so it goes out with the next repeat.
                output.owesFrame = true
                return counters.framesAboveRate.add()
            }
        }
        // The curtain was raised after this frame was taken, and will be drawn over the shown picture.
        guard tag.stamp == curtain.stamp else { return counters.framesCurtained.add() }
        var time = tag.time
        if tag.stamp.epoch != output.epoch {
            time = try drawer.fillUnseen(tag.stamp.epoch, upTo: time)
            guard tag.stamp == curtain.stamp else { return counters.framesCurtained.add() }
        }
        output.shown.reveal()
        try output.encode(time, arrival: tag.arrival)
        counters.framesEncoded.add()
        let latency = clock.monotonic.now() - tag.arrival
        counters.encodeLatency.withLock { $0.note(latency) }
    }

    // MARK: A screen that stands still

    /// When the last picture must be encoded again. Before the first sample the broadcast has no time yet, so the
    /// thread checks again soon.
    private func repeatDeadline() -> MediaTime {
        let now = clock.monotonic.now()
        if let deadline = drawer.deadline { return deadline }
        let schedule = output.schedule
        if output.owesFrame, let time = schedule.repeatTime(at: now) {
            if case .wait(let wait) = schedule.decideChange(time) { return now + wait }
            return now
        }
        return schedule.deadline(after: output.repeatInterval)
            ?? clock.monotonicTime(of: firstFrameDeadline) ?? now + schedule.idleInterval
    }

    /// A client that sends only audio gets the plain background as its picture after half a second.
    private var firstFrameDeadline: MediaTime { .milliseconds(500) }

    private func repeatPicture() throws(WorkerFailure) {
        // The curtain was raised, so the shown picture must not go out.
        guard curtain.stamp.epoch == output.epoch, let now = clock.now() else { return }
        if let time = output.schedule.repeatTime(at: clock.monotonic.now()) {
            try output.encode(time, arrival: .zero)
        } else {
            guard now >= firstFrameDeadline else { return }
            try output.encode(.zero, arrival: .zero)
            // Repeats of the background follow the sound's time, not half a second behind it.
            output.schedule.catchUp(to: now, at: clock.monotonic.now())
        }
        counters.framesRepeated.add()
    }

    /// After a failure: recycles pictures without encoding them until the broadcast is closed.
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
