internal import Buffering
internal import FrameGeometry
internal import Ingest
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy
internal import Synchronization
internal import Timeline

/// The ingest thread's part of a broadcast: gives every sample its time, converts arriving bytes into pictures, and
/// hands pictures and PCM over to the other threads.
///
/// Ingest thread only. Owns the timeline, the first half of the geometry, and the picture that is being filled.
final class CaptureInlet: SampleSink, @unchecked Sendable /* state belongs to the ingest thread */ {
    let slot: FrameSlot<VideoFrameTag>
    let counters: BroadcastCounters
    let privacy: PrivacyRules
    var curtain: Curtain { privacy.curtain }
    let regions: SampleRegions
    var gate = PictureGate()
    let times: SampleTimes
    let planner: FramePlanner
    private let audio: AudioInlet
    let intake: FrameIntake
    private let scalerInUse: Monitor<FrameScaler>
    private var filling: Filling?
    /// The last whole picture that came under a curtain without an objection.
    var kept: Filling?
    var last = LastPicture()
    let skipsUnchanged: Bool
    /// An operator has paused the broadcast: samples are counted and dropped.
    let isPaused = Atomic(false)

    init(
        canvas: CanvasFormat, bars: CanvasBars, fit: FitMode, skipsUnchanged: Bool, convention: OrientationConvention,
        slot: FrameSlot<VideoFrameTag>, queue: PCMQueue, clock: BroadcastClock, counters: BroadcastCounters,
        privacy: PrivacyRules, scaler: ScalerChoice
    ) {
        self.skipsUnchanged = skipsUnchanged
        self.slot = slot
        self.counters = counters
        self.privacy = privacy
        regions = SampleRegions(standing: privacy.standing, protections: privacy.protections)
        times = SampleTimes(clock: clock)
        planner = FramePlanner(canvas: canvas, fit: fit, convention: convention, counters: counters)
        audio = AudioInlet(queue: queue, times: times, counters: counters)
        scalerInUse = Monitor(scaler.scaler(for: nil))
        intake = FrameIntake(bars: bars, secureColor: privacy.secureColor, scaler: scaler)
    }

    /// Any thread: the scaler of the last frame; before the first, the likely one.
    var scaler: FrameScaler { scalerInUse.withLock { $0 } }

    /// Any thread: drops all further samples, or takes them again.
    func pause(_ isPaused: Bool) { self.isPaused.store(isPaused, ordering: .relaxed) }

    // MARK: Video

    func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool {
        counters.framesReceived.add()
        let earlier = gate.hasMissedPicture ? nil : last.shown
        last.shown = nil
        try checkRegions(of: message, arrival: arrival)
        let placement = times.place(.video, pts: message.pts, duration: .zero, arrival: arrival)
        guard placement.isAccepted else {
            counters.framesOutOfOrder.add()
            return false
        }
        _ = attend(at: arrival)
        let objections = curtain.objections
        let verdict = gate.admit(
            curtain.prospect, isUp: curtain.stamp.isUp, isPaused: isPaused.load(ordering: .relaxed), at: arrival)
        guard !gate.hasMissedPicture else {
            (verdict == .pause ? counters.framesPaused : counters.framesCurtained).add()
            return false
        }
        let plannedBefore = planner.latest
        let plan = planner.plan(for: message)
        guard let picture = slot.acquire() ?? takeKept() else {
            counters.framesAbandoned.add()
            return false
        }
        let version = regions.version
        let hidden = regions.all(of: message, transform: plan.transform)
        let isLikeEarlier = plan == plannedBefore && (hidden, version) == (last.regions, last.version)
        let damage =
            isLikeEarlier && verdict == .show ? takeOver(earlier, onto: picture, regions: version, message) : nil
        do {
            try intake.begin(plan, into: picture, hiding: hidden, changing: damage)
            if plan != plannedBefore { scalerInUse.withLock { $0 = intake.scaler } }
        } catch {
            slot.recycle(picture)
            counters.framesAbandoned.add()
            throw ProtocolError(.badPlaneLayout, fatal: false, "video: the frame cannot be taken: \(error)")
        }
        let isKept = verdict == .keep
        if !isKept, curtain.stamp.isUp { privacy.release(placement.time) }
        let stamp = curtain.stamp
        guard isKept || !stamp.isUp else {
            gate.miss()
            intake.cancel()
            slot.recycle(picture)
            counters.framesCurtained.add()
            return false
        }
        filling = Filling(
            picture: picture, time: placement.time, arrival: arrival, stamp: stamp, plan: plan, regions: version,
            objections: objections, isKept: isKept)
        (last.regions, last.version) = (hidden, version)
        return true
    }

    /// Notes a picture with invalid regions, which is not shown.
    func refusedRegions(_ sentence: String, arrival: MediaTime) {
        gate.refuse(at: arrival)
        // The kept picture is older than the refusal.
        dropKept()
        privacy.refuse(sentence)
    }

    func checkRegions(of message: VideoMessage, arrival: MediaTime) throws(ProtocolError) {
        do {
            try regions.check(message)
        } catch {
            counters.framesAbandoned.add()
            refusedRegions(error.message, arrival: arrival)
            throw error
        }
    }

    func nextBand() -> IngestBand? {
        intake.nextBand().map { IngestBand(payloadOffset: $0.payloadOffset, byteCount: $0.byteCount) }
    }

    var bandBuffer: UnsafeMutableRawBufferPointer { unsafe intake.bandBuffer }

    func bandArrived() throws(ProtocolError) {
        try converting { () throws(GeometryError) in try intake.bandArrived() }
    }

    func bandArrived(at bytes: UnsafeRawPointer) throws(ProtocolError) {
        try converting { () throws(GeometryError) in try unsafe intake.bandArrived(at: bytes) }
    }

    private func converting(_ body: () throws(GeometryError) -> Void) throws(ProtocolError) {
        do {
            try body()
        } catch {
            throw ProtocolError(.badPlaneLayout, fatal: false, "video: the frame cannot be converted: \(error)")
        }
    }

    func endVideo(arrival: MediaTime) {
        guard let filling else { return }
        self.filling = nil
        guard !filling.isKept else { return keep(filling, at: arrival) }
        let (picture, time, stamp) = (filling.picture, filling.time, filling.stamp)
        guard curtain.stamp == stamp else { return discard(picture) }
        let before = pictureLikeIt(picture)
        // The comparison takes time, in which the curtain may have been raised.
        guard curtain.stamp == stamp else { return discard(picture) }
        if before == nil {
            last.unchangedSince = time
        } else if let before, last.isRefined(at: time) {
            slot.recycle(picture)
            counters.framesUnchanged.add()
            return last.shown = (before, stamp)
        }
        let tag = VideoFrameTag(
            time: time, arrival: arrival, stamp: stamp, plan: filling.plan, regions: filling.regions)
        guard slot.offer(picture, tag, if: { curtain.stamp == stamp }) else { return discard(picture) }
        last.shown = (picture, stamp)
    }

    /// Drops a picture because the curtain was raised after it began to arrive.
    private func discard(_ picture: Picture) {
        gate.miss()
        slot.recycle(picture)
        counters.framesCurtained.add()
    }

    func cancelVideo() {
        guard let picture = filling?.picture else { return }
        filling = nil
        intake.cancel()
        slot.recycle(picture)
        counters.framesAbandoned.add()
    }

    // MARK: Audio

    func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        -> UnsafeMutableRawBufferPointer?
    {
        let isPaused = isPaused.load(ordering: .relaxed)
        return unsafe audio.begin(
            source, message, payloadBytes: payloadBytes, isPaused: isPaused, arrival: arrival)
    }

    func endAudio(arrival: MediaTime) { audio.end(arrival: arrival) }

    func cancelAudio() { audio.cancel() }
}
