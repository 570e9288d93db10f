internal import Buffering
internal import FrameGeometry
internal import Ingest
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy
internal import Synchronization
internal import Timeline

/// The ingest thread's half of a broadcast: gives every sample its time, turns arriving bytes into pictures at once,
/// and hands pictures and PCM over to the other threads.
///
/// Ingest thread only. Owns the timeline, the first half of the geometry, and the picture that is being filled.
final class CaptureInlet: SampleSink, @unchecked Sendable /* all state but `published` belongs to the ingest thread */ {
    private let canvas: CanvasFormat
    private let fit: FitMode
    let slot: FrameSlot<VideoFrameTag>
    private let queue: PCMQueue
    private let clock: BroadcastClock
    let counters: BroadcastCounters
    let privacy: PrivacyRules
    var curtain: Curtain { privacy.curtain }
    private var standing: StandingRegions { privacy.standing }
    let convention: OrientationConvention

    /// What decides which pictures are shown, and what of them.
    struct PrivacyRules: Sendable {
        var curtain: Curtain
        var standing: StandingRegions
        var protections: Protections
        /// Releases every hold that lasts until the next picture that may be shown; that picture's broadcast time.
        var release: @Sendable (MediaTime) -> Void
        /// Takes note that a picture's regions were not understood; a sentence that says why.
        var refuse: @Sendable (String) -> Void
        var secureColor: (red: UInt8, green: UInt8, blue: UInt8)
    }

    var gate = PictureGate()
    /// The last picture that came says itself what of it is to be hidden.
    private let hidesSomething = Atomic(false)

    private var timeline: BroadcastTimeline
    private let published: Monitor<TimelineCounters>
    private let intake: FrameIntake
    /// The plan of the last frame: while nothing changes, nothing is planned again.
    private var planned: (source: VideoSampleFormat, transform: UprightTransform, plan: GeometryPlan)?
    private let sourceText = Monitor("")
    private let scalerInUse: Monitor<FrameScaler>
    private var filling: Filling?
    /// The last picture that came whole while the curtain was up and nobody had anything against it.
    var kept: Filling?
    /// What the last picture that was begun hides, and the standing regions' version then.
    private var shownRegions = SecureRegions()
    private var shownVersion: RegionsVersion = .first
    /// The picture on the canvas that looks as the client's last one does, and the curtain when it was handed over. Nil
    /// where nobody knows of one.
    private var latest: (picture: Picture, stamp: Curtain.Stamp)?
    private var receiving: PCMBlock?
    private let skipsUnchanged: Bool
    /// An operator has paused the broadcast: what comes is counted and thrown away.
    let isPaused = Atomic(false)
    /// Since when the newest picture has looked as it does.
    var unchangedSince: MediaTime?
    /// A picture that has just changed is encoded again for as long: an encoder with a bitrate to keep makes it better
    /// from frame to frame, and has got there by then.
    private static let refinement = MediaTime.milliseconds(500)

    init(
        canvas: CanvasFormat, bars: CanvasBars, fit: FitMode, skipsUnchanged: Bool, convention: OrientationConvention,
        slot: FrameSlot<VideoFrameTag>, queue: PCMQueue, clock: BroadcastClock, counters: BroadcastCounters,
        privacy: PrivacyRules, scaler: ScalerChoice
    ) {
        self.canvas = canvas
        self.fit = fit
        self.skipsUnchanged = skipsUnchanged
        self.convention = convention
        self.slot = slot
        self.queue = queue
        self.clock = clock
        self.counters = counters
        self.privacy = privacy
        scalerInUse = Monitor(scaler.scaler(for: nil))
        intake = FrameIntake(bars: bars, secureColor: privacy.secureColor, scaler: scaler)
        timeline = BroadcastTimeline()
        published = Monitor(timeline.counters)
    }

    /// Any thread: the last frame's format, for people; empty before the first.
    var sourceDescription: String { sourceText.withLock { $0 } }

    /// Any thread: what the last frame is scaled by, or the first one probably.
    var scaler: FrameScaler { scalerInUse.withLock { $0 } }

    /// Any thread: from now on samples are thrown away, or taken again.
    func pause(_ isPaused: Bool) { self.isPaused.store(isPaused, ordering: .relaxed) }

    /// Any thread: what the timeline has counted.
    var timelineCounters: TimelineCounters { published.withLock { $0 } }

    private func place(_ track: TimelineTrack, pts: MediaTime, duration: MediaTime, arrival: MediaTime) -> Placement {
        let placement = timeline.place(
            track, pts: pts, duration: duration, arrival: arrival,
            running: timeline.hasStarted ? nil : clock.publishedOffset)
        clock.publish(offset: timeline.clockOffset)
        let counters = timeline.counters
        published.withLock { $0 = counters }
        return placement
    }

    // MARK: Video

    func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool {
        counters.framesReceived.add()
        let earlier = gate.hasMissedPicture ? nil : latest
        latest = nil
        try requireSecureRegions(for: message, arrival: arrival)
        let placement = place(.video, pts: message.pts, duration: .zero, arrival: arrival)
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
        let plannedBefore = planned?.plan
        let plan = plan(for: message.format, transform: transform(of: message))
        guard let picture = slot.acquire() ?? takeKept() else {
            counters.framesAbandoned.add()
            return false
        }
        let version = standing.version
        let regions = regions(of: message, transform: plan.transform)
        let isLikeEarlier = plan == plannedBefore && (regions, version) == (shownRegions, shownVersion)
        let damage =
            isLikeEarlier && verdict == .show ? takeOver(earlier, onto: picture, regions: version, message) : nil
        do {
            try intake.begin(plan, into: picture, hiding: regions, changing: damage)
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
        (shownRegions, shownVersion) = (regions, version)
        return true
    }

    /// Puts what the canvas shows of the client's last picture onto the one that is to be filled.
    ///
    /// Nil, so that all of the sample is converted, where the client does not say what has changed since, where the
    /// scaler makes whole pictures only, or where anybody else has drawn on the canvas, or may have: then it does not
    /// look as that picture does.
    private func takeOver(
        _ earlier: (picture: Picture, stamp: Curtain.Stamp)?, onto picture: Picture, regions version: RegionsVersion,
        _ message: VideoMessage
    ) -> PictureDamage? {
        guard let damage = message.damage?.damage, intake.makesParts, let earlier, earlier.picture !== picture else {
            return nil
        }
        func isShown() -> Bool {
            slot.newest === earlier.picture && curtain.stamp == earlier.stamp && standing.version == version
        }
        guard isShown() else { return nil }
        picture.copySamples(of: earlier.picture)
        // Whoever paints on what is shown says so before: nobody did while it was copied.
        guard isShown() else { return nil }
        counters.framesPartial.add()
        return damage
    }

    /// A picture came that says wrongly what of it is not to be shown.
    func refusedRegions(_ sentence: String, arrival: MediaTime) {
        gate.refuse(at: arrival)
        // It came before.
        dropKept()
        privacy.refuse(sentence)
    }

    /// A client that believes something to be hidden must learn that it would not be.
    private func requireSecureRegions(for message: VideoMessage, arrival: MediaTime) throws(ProtocolError) {
        hidesSomething.store(!message.regions.isEmpty, ordering: .relaxed)
        guard !message.regions.isEmpty, !privacy.protections.isOn(.secureRegions) else { return }
        counters.framesAbandoned.add()
        let error = ProtocolError(
            .badSecureRegions, fatal: false,
            "video: secure regions are turned off here (privacy.secure_regions); the picture is refused and not shown"
        )
        refusedRegions(error.message, arrival: arrival)
        throw error
    }

    /// Any thread: whether the last picture says what of it is to be hidden.
    var hasRegions: Bool { hidesSomething.load(ordering: .relaxed) }

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
        guard curtain.stamp == stamp else {
            gate.miss()
            slot.recycle(picture)
            return counters.framesCurtained.add()
        }
        let before = pictureLikeIt(picture)
        if before == nil {
            unchangedSince = time
        } else if let before, isRefined(at: time) {
            slot.recycle(picture)
            counters.framesUnchanged.add()
            return latest = (before, stamp)
        }
        latest = (picture, stamp)
        slot.offer(
            picture,
            VideoFrameTag(time: time, arrival: arrival, stamp: stamp, plan: filling.plan, regions: filling.regions))
    }

    /// The client says that its picture is the last one: it is neither converted nor, once it has been for a while,
    /// encoded.
    func repeatVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) {
        counters.framesReceived.add()
        try requireSecureRegions(for: message, arrival: arrival)
        _ = attend(at: arrival)
        let stamp = curtain.stamp
        let isLast = looksAsLast(message)
        guard !stamp.isUp else {
            // It may be the one that is kept.
            guard kept == nil || !isLast else { return counters.framesCurtained.add() }
            gate.miss()
            // Where a whole picture would be kept or shown, the curtain waits for one; else the client is told later.
            switch verdict(at: arrival) {
            case .hide, .pause: return counters.framesCurtained.add()
            case .show, .keep: throw unknownPicture()
            }
        }
        guard slot.newest != nil, isLast, let planned else { throw unknownPicture() }
        let placement = place(.video, pts: message.pts, duration: .zero, arrival: arrival)
        guard placement.isAccepted else { return counters.framesOutOfOrder.add() }
        guard !isPaused.load(ordering: .relaxed) else { return counters.framesPaused.add() }
        guard !isRefined(at: placement.time) else { return counters.framesUnchanged.add() }
        slot.offerAgain(
            VideoFrameTag(
                time: placement.time, arrival: arrival, stamp: stamp, plan: planned.plan, regions: shownVersion))
    }

    private func unknownPicture() -> ProtocolError {
        counters.framesAbandoned.add()
        return ProtocolError(
            .unknownPicture, fatal: false,
            "video: the picture that is said to be unchanged is not the last one that was taken; it has to be sent")
    }

    private func looksAsLast(_ message: VideoMessage) -> Bool {
        guard !gate.hasMissedPicture, let planned, planned.source == message.format else { return false }
        return planned.transform == transform(of: message)
            && shownRegions == regions(of: message, transform: planned.transform)
    }

    private func isRefined(at time: MediaTime) -> Bool {
        guard skipsUnchanged, let unchangedSince else { return false }
        return time - unchangedSince > Self.refinement
    }

    /// The picture that was handed over last, where this one looks the same.
    private func pictureLikeIt(_ picture: Picture) -> Picture? {
        guard skipsUnchanged, let newest = slot.newest, picture.hasSameSamples(as: newest) else { return nil }
        return newest
    }

    func cancelVideo() {
        guard let picture = filling?.picture else { return }
        filling = nil
        intake.cancel()
        slot.recycle(picture)
        counters.framesAbandoned.add()
    }

    /// The sample's own, and what apps keep hidden.
    private func regions(of message: VideoMessage, transform: UprightTransform) -> SecureRegions {
        var regions = message.regions
        standing.hide(
            in: &regions, width: message.format.width, height: message.format.height, transform: transform)
        return regions
    }

    private func transform(of message: VideoMessage) -> UprightTransform {
        guard let tag = message.orientation else {
            (message.orientationRaw == 0 ? counters.orientationMissing : counters.orientationInvalid).add()
            return .identity
        }
        return convention.uprightTransform(for: tag)
    }

    private func plan(for source: VideoSampleFormat, transform: UprightTransform) -> GeometryPlan {
        if let planned, planned.source == source, planned.transform == transform { return planned.plan }
        if planned != nil { counters.formatChanges.add() }
        let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: fit)
        planned = (source, transform, plan)
        let turn = transform == .identity ? "" : ", \(transform)"
        let text = "\(source.width)x\(source.height) \(source.pixelFormat.fourCC)\(turn)"
        sourceText.withLock { $0 = text }
        return plan
    }

    // MARK: Audio

    func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        -> UnsafeMutableRawBufferPointer?
    {
        let track: TimelineTrack = source == .app ? .audioApp : .audioMicrophone
        let duration = MediaTime(sample: Int64(message.frames), rate: message.format.sampleRate)
        let placement = place(track, pts: message.pts, duration: duration, arrival: arrival)
        guard !isPaused.load(ordering: .relaxed) else {
            counters.audioPaused.add()
            return nil
        }
        guard placement.isAccepted, let room = unsafe queue.reserve(payloadBytes) else { return nil }
        receiving = PCMBlock(
            source: source, format: message.format, frames: message.frames, time: placement.time, arrival: arrival)
        return unsafe room
    }

    func endAudio(arrival: MediaTime) {
        guard var block = receiving else { return }
        receiving = nil
        block.arrival = arrival
        counters.audioBlocks[Int(block.source.rawValue)].add()
        counters.audioFrames[Int(block.source.rawValue)].add(UInt64(block.frames))
        queue.commit(block)
    }

    func cancelAudio() {
        receiving = nil
        queue.abandon()
    }
}
