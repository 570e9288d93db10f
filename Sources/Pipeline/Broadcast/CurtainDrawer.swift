internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Painting
internal import Privacy

/// Draws the curtain over the shown picture, and fills the gap of a take-back with it.
///
/// Video thread only, but for `use`.
final class CurtainDrawer {
    /// How often the curtain is encoded, so that the stream has a steady rate while it is up.
    static let interval = MediaTime.milliseconds(100)

    private let output: VideoOutput
    private let curtain: Curtain
    private let clock: BroadcastClock
    private let counters: BroadcastCounters
    private let work: WorkMark
    private let isEnding: () -> Bool
    /// Waits for the take-back of the raise that began this epoch; returns nil if the broadcast ends.
    private let takenBack: @Sendable (CurtainEpoch) -> TakenBack?
    /// When the curtain was drawn last, on the monotonic clock.
    private(set) var drawnAt: MediaTime?
    private var fillLimit = FillLimit()
    /// A painter that takes the place of the current one; nil for none.
    private let newPainter = Monitor<CurtainPainter?>(nil)

    init(
        _ output: VideoOutput, _ curtain: Curtain, clock: BroadcastClock, counters: BroadcastCounters, work: WorkMark,
        isEnding: @escaping () -> Bool, takenBack: @escaping @Sendable (CurtainEpoch) -> TakenBack?
    ) {
        (self.output, self.curtain, self.clock, self.counters) = (output, curtain, clock, counters)
        (self.work, self.isEnding, self.takenBack) = (work, isEnding, takenBack)
    }

    /// Any thread: paints the curtain with `painter` from the next `takePainter` on.
    func use(_ painter: sending CurtainPainter) { newPainter.withLock { $0 = painter } }

    /// Takes the new painter, if there is one. A curtain that is drawn already is drawn again.
    func takePainter() {
        let new = newPainter.withLock { new in
            defer { new = nil }
            return new
        }
        guard let new else { return }
        let isDrawn = curtain.stamp.isUp && curtain.stamp.epoch == output.epoch
        output.shown.use(new, isDrawn: isDrawn)
        if isDrawn { output.owesFrame = true }
    }

    /// Draws the curtain if it was raised since it was drawn last. Several raises within `interval` lead to one
    /// drawing; nothing else is shown meanwhile.
    func drawIfRaised() throws(WorkerFailure) {
        let epoch = curtain.stamp.epoch
        let hasJustDrawn = drawnAt.map { clock.monotonic.now() < $0 + Self.interval } ?? false
        if epoch != output.epoch, !hasJustDrawn { try draw(epoch) }
    }

    /// When a raise that has not been drawn yet is due; nil if there is none.
    var deadline: MediaTime? { curtain.stamp.epoch == output.epoch ? nil : drawnAt.map { $0 + Self.interval } }

    /// Covers the shown picture, and fills the gap of the take-back with the curtain.
    private func draw(_ epoch: CurtainEpoch) throws(WorkerFailure) {
        output.shown.coverStandingRegions()
        // The wait can take long and nothing is encoded meanwhile, so the time is read afterwards.
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        drawnAt = now
        let end = output.schedule.repeatTime(at: now)
        output.shown.drawCurtain()
        let last = output.enter(epoch, taken)
        // Nothing has been shown yet, so the first frame comes as usual.
        guard let end else { return }
        if let last { try fill(from: last, to: end, since: now, epoch) }
        try output.encode(end + (clock.monotonic.now() - now), arrival: .zero)
        counters.framesRepeated.add()
    }

    /// Fills the gap of a curtain that was raised and lowered before it was drawn. A temporary curtain replaces the
    /// shown picture meanwhile. If no picture is free for it, the gap stays.
    ///
    /// - Returns: the time of the shown picture afterwards: `end` plus the time that filling took.
    func fillUnseen(_ epoch: CurtainEpoch, upTo end: MediaTime) throws(WorkerFailure) -> MediaTime {
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        guard let last = output.enter(epoch, taken), let covered = output.shown.coverForNow() else { return end }
        defer { output.shown.uncover(covered) }
        try fill(from: last, to: end, since: now, epoch)
        return end + (clock.monotonic.now() - now)
    }

    /// Encodes the shown picture, which is the curtain, until the gap is full or another raise takes these frames back,
    /// too.
    ///
    /// The time that filling takes is filled as well, because sound continues meanwhile: video that falls too far
    /// behind it stays late for ever. If encoding does not keep up, a gap stays.
    ///
    /// - Parameters:
    ///   - end: the broadcast time at `now` (monotonic clock).
    private func fill(
        from last: MediaTime, to end: MediaTime, since now: MediaTime, _ epoch: CurtainEpoch
    ) throws(WorkerFailure) {
        var time = last + Self.interval
        var left = 2 * max(0, (end - last).nanoseconds / Self.interval.nanoseconds)
        while left > 0, time < end + (clock.monotonic.now() - now) - Self.interval,
            fillLimit.goesOn(epoch, current: curtain.stamp, isEnding: isEnding(), at: clock.monotonic.now())
        {
            // A long delay leads to hundreds of frames.
            work.begin()
            try output.encode(time, arrival: .zero)
            time += Self.interval
            left -= 1
        }
    }
}
