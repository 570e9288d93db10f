internal import Adaptation
internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// The last step before the encoder: the shown picture, its time, and its epoch.
///
/// Video thread only.
final class VideoOutput {
    var shown: ShownPicture
    var schedule: PresentationSchedule
    let encoder: RunningEncoder
    private let clock: BroadcastClock
    private let snapshots: SnapshotBooth
    private let superseded: () -> UInt64
    /// The curtain's epoch when the curtain was last drawn or a picture shown.
    private(set) var epoch: CurtainEpoch
    /// The shown picture has changed and must be encoded as soon as a frame is due.
    var owesFrame = false
    /// The last encoded frame was a repeat or the curtain.
    private(set) var lastWasRepeat = false

    /// - Parameter superseded: returns how many frames newer ones have replaced so far.
    init(
        _ shown: ShownPicture, _ schedule: PresentationSchedule, _ encoder: RunningEncoder, clock: BroadcastClock,
        snapshots: SnapshotBooth, epoch: CurtainEpoch, superseded: @escaping () -> UInt64
    ) {
        (self.shown, self.schedule, self.encoder, self.clock) = (shown, schedule, encoder, clock)
        (self.snapshots, self.epoch, self.superseded) = (snapshots, epoch, superseded)
    }

    /// Covers the standing regions in the shown picture. A frame is due if that changes it.
    func coverStandingRegions() { if shown.coverStandingRegions() { owesFrame = true } }

    /// Encodes the shown picture.
    ///
    /// - Parameter arrival: when the client's frame arrived, on the monotonic clock; zero for a repeat or the
    ///   curtain.
    func encode(_ time: MediaTime, arrival: MediaTime) throws(WorkerFailure) {
        // The last moment at which a new region can still be hidden.
        coverStandingRegions()
        let now = clock.monotonic.now()
        lastWasRepeat = arrival == .zero
        // Painted regions, and a curtain that goes up and down, must not raise the frame rate.
        let pts = schedule.encode(time, at: now, isRepeat: lastWasRepeat && !owesFrame && !shown.isCurtained)
        owesFrame = false
        if let step = try encoder.prepare(for: pts, at: now) { schedule.divide(by: step.frameRateDivisor) }
        try encoder.encode(shown.picture.planes, pts: pts, arrival: arrival, epoch: epoch, superseded: superseded)
        snapshots.pass(shown.picture, epoch: epoch, regions: shown.regions)
    }

    /// Assigns later frames to this epoch, which begins with a keyframe. If a take-back shortened the stream, returns
    /// the time at which the stream continues.
    func enter(_ epoch: CurtainEpoch, _ taken: TakenBack?) -> MediaTime? {
        self.epoch = epoch
        let last = taken?.lastVideo
        encoder.goBack(to: last, epoch: epoch)
        if let last { schedule.goBack(to: last) }
        return last
    }

    /// How long a shown picture lasts before it is encoded again.
    ///
    /// An encoder that holds frames returns them only as more go in. At the idle rate, the last picture or the
    /// curtain would take seconds to come out. The interval still leaves room for a client's next frame.
    var repeatInterval: MediaTime {
        let interval = shown.isCurtained ? CurtainDrawer.interval : schedule.idleInterval
        guard encoder.holdsFrames else { return interval }
        return min(interval, lastWasRepeat ? schedule.frameDuration : schedule.frameDuration * 2)
    }
}
