internal import Adaptation
internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// What is shown, when it is encoded, and to which raise of the curtain it belongs: the last step before the encoder.
///
/// Belongs to the video thread.
final class VideoOutput {
    var shown: ShownPicture
    var schedule: PresentationSchedule
    let encoder: RunningEncoder
    private let clock: BroadcastClock
    private let snapshots: SnapshotBooth
    private let superseded: () -> UInt64
    /// How often the curtain had been raised when it was last drawn, or a picture shown.
    private(set) var epoch: CurtainEpoch
    /// What is shown has changed, and is encoded as soon as a frame is due.
    var owesFrame = false
    /// What was encoded last had been encoded before, or is the curtain.
    private(set) var lastWasRepeat = false

    /// - Parameter superseded: frames that newer ones have replaced so far.
    init(
        _ shown: ShownPicture, _ schedule: PresentationSchedule, _ encoder: RunningEncoder, clock: BroadcastClock,
        snapshots: SnapshotBooth, epoch: CurtainEpoch, superseded: @escaping () -> UInt64
    ) {
        (self.shown, self.schedule, self.encoder, self.clock) = (shown, schedule, encoder, clock)
        (self.snapshots, self.epoch, self.superseded) = (snapshots, epoch, superseded)
    }

    /// Covers the standing regions in what is shown. Where that changes it, a frame is due.
    func coverStandingRegions() { if shown.coverStandingRegions() { owesFrame = true } }

    /// Encodes what is shown.
    ///
    /// - Parameter arrival: of the client's frame, by the monotonic clock; zero for a repeat or the curtain.
    func encode(_ time: MediaTime, arrival: MediaTime) throws(WorkerFailure) {
        // The last moment at which what has been named can be kept out.
        shown.coverStandingRegions()
        let now = clock.monotonic.now()
        let pts = schedule.encode(time, at: now)
        owesFrame = false
        lastWasRepeat = arrival == .zero
        if let step = try encoder.prepare(for: pts, at: now) { schedule.divide(by: step.frameRateDivisor) }
        try encoder.encode(shown.picture.planes, pts: pts, arrival: arrival, epoch: epoch, superseded: superseded)
        snapshots.pass(shown.picture, epoch: epoch, regions: shown.regions)
    }

    /// From now on what is encoded belongs to this epoch, and begins with a keyframe. Returns where the stream goes on,
    /// if it goes back.
    func enter(_ epoch: CurtainEpoch, _ taken: TakenBack?) -> MediaTime? {
        self.epoch = epoch
        let last = taken?.lastVideo
        encoder.goBack(to: last, epoch: epoch)
        if let last { schedule.goBack(to: last) }
        return last
    }

    /// How long what is shown stands before it is encoded again.
    ///
    /// What an encoder holds comes out only as more goes in. At a repeat now and then the last picture, or the curtain,
    /// would take seconds. A client's next frame is not overtaken.
    var repeatInterval: MediaTime {
        let interval = shown.isCurtained ? CurtainDrawer.interval : schedule.idleInterval
        guard encoder.holdsFrames else { return interval }
        return min(interval, lastWasRepeat ? schedule.frameDuration : schedule.frameDuration * 2)
    }
}
