internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// Draws the curtain over what is shown, and fills with it what was taken back.
///
/// Belongs to the video thread.
final class CurtainDrawer {
    /// How often the curtain is encoded, so that the stream has a steady rate while it is up.
    static let interval = MediaTime.milliseconds(100)

    private let output: VideoOutput
    private let curtain: Curtain
    private let clock: BroadcastClock
    private let counters: BroadcastCounters
    private let work: WorkMark
    private let isEnding: () -> Bool
    /// Waits for what was taken back when the curtain was raised for the nth time; nil where the broadcast ends.
    private let takenBack: @Sendable (CurtainEpoch) -> TakenBack?
    /// Monotonic clock.
    private(set) var drawnAt: MediaTime?
    private var fillLimit = FillLimit()

    init(
        _ output: VideoOutput, _ curtain: Curtain, clock: BroadcastClock, counters: BroadcastCounters, work: WorkMark,
        isEnding: @escaping () -> Bool, takenBack: @escaping @Sendable (CurtainEpoch) -> TakenBack?
    ) {
        (self.output, self.curtain, self.clock, self.counters) = (output, curtain, clock, counters)
        (self.work, self.isEnding, self.takenBack) = (work, isEnding, takenBack)
    }

    /// The curtain was raised since it was drawn last. Repeated raises are not drawn one by one; nothing else is shown
    /// meanwhile.
    func drawIfRaised() throws(WorkerFailure) {
        let epoch = curtain.stamp.epoch
        let hasJustDrawn = drawnAt.map { clock.monotonic.now() < $0 + Self.interval } ?? false
        if epoch != output.epoch, !hasJustDrawn { try draw(epoch) }
    }

    /// When a raise that has not been drawn is due; nil for none.
    var deadline: MediaTime? { curtain.stamp.epoch == output.epoch ? nil : drawnAt.map { $0 + Self.interval } }

    /// Covers what is shown, and fills what was taken back with it.
    private func draw(_ epoch: CurtainEpoch) throws(WorkerFailure) {
        output.shown.coverStandingRegions()
        // Nothing is encoded until it is there, so the time is taken afterwards.
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        drawnAt = now
        let end = output.schedule.repeatTime(at: now)
        output.shown.drawCurtain()
        let last = output.enter(epoch, taken)
        // Nothing has been shown yet: the first frame comes as ever.
        guard let end else { return }
        if let last { try fill(from: last, to: end, since: now, epoch) }
        try output.encode(end + (clock.monotonic.now() - now), arrival: .zero)
        counters.framesRepeated.add()
    }

    /// A curtain was raised and lowered again before it was drawn: what that took back is filled with a curtain that
    /// takes the place of what is shown meanwhile. Where no picture is free for it, a gap is left.
    ///
    /// - Returns: when what is shown comes afterwards: later than `end` by what filling took.
    func fillUnseen(_ epoch: CurtainEpoch, upTo end: MediaTime) throws(WorkerFailure) -> MediaTime {
        let taken = takenBack(epoch)
        let now = clock.monotonic.now()
        guard let last = output.enter(epoch, taken), let covered = output.shown.coverForNow() else { return end }
        defer { output.shown.uncover(covered) }
        try fill(from: last, to: end, since: now, epoch)
        return end + (clock.monotonic.now() - now)
    }

    /// Encodes what is shown, which is the curtain, until another raise takes that back, too.
    ///
    /// What filling takes must not be missing at its end: sound goes on meanwhile, and video that is behind it by too
    /// much is late for ever. Where encoding does not keep up, a gap is left.
    ///
    /// - Parameters:
    ///   - end: broadcast time at `now` by the monotonic clock.
    private func fill(
        from last: MediaTime, to end: MediaTime, since now: MediaTime, _ epoch: CurtainEpoch
    ) throws(WorkerFailure) {
        var time = last + Self.interval
        var left = 2 * max(0, (end - last).nanoseconds / Self.interval.nanoseconds)
        while left > 0, time < end + (clock.monotonic.now() - now) - Self.interval,
            fillLimit.goesOn(epoch, current: curtain.stamp, isEnding: isEnding(), at: clock.monotonic.now())
        {
            // With a long delay these are hundreds.
            work.begin()
            try output.encode(time, arrival: .zero)
            time += Self.interval
            left -= 1
        }
    }
}
