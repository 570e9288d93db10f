internal import Adaptation
internal import AudioMixing
internal import Buffering
internal import Configuration
internal import Encoding
internal import FrameGeometry
internal import Ingest
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Painting
internal import Privacy
internal import Publishing
internal import Synchronization

/// One broadcast from its client's `started` to its last byte. It owns every stage and starts them from the last to
/// the first (destinations first); it stops them from the first to the last (sources first).
///
/// Created and closed by `BroadcastHost`. All memory of the data plane is allocated here, in `init`.
final class Broadcast: Sendable {
    let inlet: CaptureInlet
    let log: PacketLog
    let meter: PacketMeter
    let slot: FrameSlot<VideoFrameTag>
    let queue: PCMQueue
    let counters: BroadcastCounters
    let clock: BroadcastClock
    let destinations: DestinationSet
    let bitrate: BitrateControl
    let format: BroadcastFormat
    let started: StartedMessage
    let startedAt: MediaTime
    let savings: MemorySavings
    let snapshots: SnapshotBooth
    let encoder: RunningEncoder
    private let video: VideoWorker
    /// Why the curtain differs from the configured one, as a sentence.
    let curtainProblem: String?
    let curtain: Curtain
    /// The result of the newest take-back.
    private let taken = TakeBackFigure()
    /// The curtain's epoch when this broadcast was created.
    private let firstEpoch: CurtainEpoch
    private let audio: AudioWorker
    private let videoThread: WorkerThread
    private let audioThread: WorkerThread

    /// Bytes of raw PCM that may wait: the largest message (512 KiB) and as much again.
    static let pcmQueueBytes = 1024 * 1024

    /// - Parameters:
    ///   - worked: URLs of destinations that worked in an earlier broadcast, by name.
    ///   - release: lowers the holds that wait for a picture that may be shown; gets the picture's time. Called on
    ///     the ingest thread.
    ///   - refuse: records that a picture's regions were not understood, and why. Called on the ingest thread.
    ///   - onEvent: gets a destination's event and name; called on the destination's thread.
    ///   - onBitrate: gets each change that the network causes in the encoder; called on the video thread.
    ///   - onEffort: gets each change of effort that the processor causes; called on the video thread.
    ///   - onFailure: called once, by any thread, when the broadcast cannot continue.
    ///   - freeze: makes the encoder hang, for a test.
    /// - Throws: a sentence for the client and the log.
    init(
        _ started: StartedMessage, configuration: Configuration, environment: [String: String],
        worked: [String: DestinationURL] = [:], clock monotonic: any TimeSource, curtain: Curtain = Curtain(),
        standing: StandingRegions = StandingRegions(), protections: Protections = Protections(),
        release: @escaping @Sendable (MediaTime) -> Void = { _ in },
        refuse: @escaping @Sendable (String) -> Void = { _ in }, freeze: TestFreeze? = nil,
        onEvent: @escaping @Sendable (String, DestinationEvent) -> Void,
        onBitrate: @escaping @Sendable (BitrateStep) -> Void, onEffort: @escaping @Sendable (EffortStep) -> Void,
        onFailure: @escaping @Sendable (String) -> Void
    ) throws(WorkerFailure) {
        self.started = started
        self.curtain = curtain
        firstEpoch = curtain.stamp.epoch
        startedAt = monotonic.now()
        let canvas = configuration.video.canvas
        // Decoding a picture uses memory that the encoder is given later.
        let paint = configuration.curtainPaint()
        curtainProblem = paint.problem
        clock = BroadcastClock(monotonic)
        counters = BroadcastCounters()
        var bars = CanvasBars(canvas: canvas, background: configuration.canvasBackground)
        let background = Picture(width: canvas.width, height: canvas.height)
        bars.fill(background)
        // No picture has been allowed yet. A client without video has none to hide.
        if started.tracks.isEmpty || started.tracks.contains(.video) {
            paint.painter.paint(background.planes, after: background.planes)
        }
        savings = MemorySavings(configuration)
        slot = FrameSlot(shown: background, others: savings.fit.pictures - 1, clock: monotonic)
        queue = PCMQueue(capacity: Self.pcmQueueBytes, clock: monotonic)
        log = PacketLog(limits: configuration.packetLogLimits)
        meter = PacketMeter(into: log)
        snapshots = SnapshotBooth(canvas, size: configuration.control.snapshotSize, clock: monotonic)

        let videoEncoder: VideoEncoder
        let audioEncoder: AudioEncoder
        let mixer: AudioMixer
        do {
            videoEncoder = try VideoEncoder(savings.encoder)
            audioEncoder = try AudioEncoder(configuration.audioEncoderSettings)
            mixer = try AudioMixer(settings: configuration.mixerSettings(expecting: started.tracks))
        } catch {
            throw WorkerFailure(sentence: "\(error)")
        }
        // Opening the encoders touched tables and code that are not needed again.
        ProcessMemory.releaseFilePages()
        format = BroadcastFormat(video: videoEncoder.format, audio: audioEncoder.format)

        inlet = CaptureInlet(
            canvas: canvas, bars: bars, fit: configuration.video.fit,
            skipsUnchanged: configuration.video.skipsUnchanged, convention: started.convention, slot: slot,
            queue: queue, clock: clock, counters: counters,
            privacy: .init(
                curtain: curtain, standing: standing, protections: protections, release: release, refuse: refuse,
                secureColor: configuration.secureColor),
            scaler: configuration.scalerChoice)
        let destinations = DestinationSet(log: log, format: format, clock: monotonic, onEvent: onEvent)
        self.destinations = destinations
        let takenBack: @Sendable (CurtainEpoch) -> TakenBack? = { [taken] in taken.wait(for: $0) }
        let bitrate = BitrateControl(configuration.bitrateLimits)
        self.bitrate = bitrate
        let encoder = RunningEncoder(
            videoEncoder, settings: savings.encoder,
            effort: configuration.video.encoderEffort.map {
                EffortControl($0, isAdaptive: configuration.video.adaptiveEffort)
            },
            sink: meter, clock: monotonic, freeze: freeze,
            adapt: { now in
                let step = bitrate.look(
                    at: now, servesOthers: destinations.hasUnadapted, destinations.forEachLink)
                if let step { onBitrate(step) }
                return step
            },
            onEffort: onEffort)
        self.encoder = encoder
        let video = VideoWorker(
            slot: slot, encoder: encoder,
            shown: ShownPicture(
                background, slot: slot, painter: paint.painter, standing: standing,
                secureColor: configuration.canvasSecureColor),
            clock: clock, counters: counters, snapshots: snapshots, curtain: curtain,
            schedule: PresentationSchedule(canvas.frameRate, idleInterval: configuration.video.idleRepeat),
            takenBack: takenBack, onFailure: onFailure)
        let audio = AudioWorker(
            queue: queue, mixer: mixer, encoder: audioEncoder, meter: meter, clock: clock, counters: counters,
            curtain: curtain, takenBack: takenBack, onFailure: onFailure)
        self.video = video
        self.audio = audio
        // Weak, because the encoder writes to the log and would otherwise keep it alive.
        log.onKeyframeWanted = { [weak encoder] in encoder?.requestKeyframe() }

        do {
            for destination in configuration.destinations where !destination.refuses(started.source) {
                let hasWorked = worked[destination.name] == destination.url
                try destinations.add(
                    configuration.settings(of: destination, environment: environment, hasWorked: hasWorked))
            }
            (videoThread, audioThread) = try Self.start(video, audio, slot, taken)
        } catch {
            destinations.cancel()
            throw WorkerFailure(sentence: "\(error)")
        }
    }

    // MARK: Changes of the configuration

    /// Applies the keys that a reload changes while the broadcast runs: gains, and the curtain's text, style and
    /// colours. Any thread.
    func apply(_ new: Configuration, since old: Configuration) {
        let settings = new.mixerSettings(expecting: [])
        audio.setGains(app: settings.appGain, microphone: settings.microphoneGain)
        if let painter = new.curtainPainter(since: old) { video.use(painter) }
    }

    /// Starts the encoders' threads. If the second one fails to start, the first is stopped again.
    private static func start(
        _ video: VideoWorker, _ audio: AudioWorker, _ slot: FrameSlot<VideoFrameTag>, _ taken: TakeBackFigure
    ) throws(Errno) -> (video: WorkerThread, audio: WorkerThread) {
        let videoThread = try WorkerThread(name: "up-video", stackBytes: 512 * 1024) { video.run() }
        do {
            return (videoThread, try WorkerThread(name: "up-audio") { audio.run() })
        } catch {
            taken.end()
            slot.close()
            videoThread.join()
            throw error
        }
    }

    /// Throws away every picture and packet that has not gone out, after the curtain was raised. Once it returns,
    /// none of them goes out. Any thread; does not wait for a data thread.
    ///
    /// - Parameter age: only packets that are newer than this are thrown away; nil for all.
    func takeBack(newerThan age: MediaTime?) -> (TakenBack, lastPTS: [(name: String, lastPTS: MediaTime?)]) {
        let epoch = curtain.stamp.epoch
        let result = log.takeBack(epoch: epoch, newerThan: age)
        taken.leave(result, of: epoch)
        let lastPTS = destinations.takeBack(before: epoch, keeping: result.keptUntil)
        snapshots.forget(before: epoch)
        slot.throwAway()
        return (result, lastPTS)
    }

    /// Does the take-back that this broadcast missed if the curtain was raised while it was being created. The
    /// encoders' threads wait for its result. Call it once raises of the curtain reach this broadcast.
    func takeBackWhatWasMissed() {
        if curtain.stamp.epoch != firstEpoch { _ = takeBack(newerThan: nil) }
    }

    /// The newest presentation time that the newest take-back kept; nil if it kept nothing.
    var lastKeptPTS: MediaTime? { taken.lastKeptPTS }

    var mixerCounters: AudioMixerCounters { audio.mixerCounters }

    /// Visits the work mark of each thread of this broadcast. It allocates no array, because the main thread polls
    /// it.
    func forEachWorkMark(_ body: (WorkMark) -> Void) {
        body(video.work)
        body(audio.work)
        destinations.forEachWorkMark(body)
    }

    /// Stops sources first: encodes what was received, sends what was encoded until `deadline`, then has every
    /// destination unpublish and close. Blocks; returns true if everything was sent in time.
    func close(deadline: MediaTime) -> Bool {
        taken.end()
        slot.close()
        // The encoder's last frames must come before the last sound, which would otherwise overtake them.
        videoThread.join()
        queue.close()
        audioThread.join()
        log.end(at: clock.monotonic.now())
        if !destinations.close(deadline: deadline) {
            // A thread that hangs keeps the log alive, so the log shrinks to a small piece.
            _ = log.resize(maxBytes: 64 * 1024, maxDelay: .zero)
        }
        return destinations.snapshots.allSatisfy(\.isDrained)
    }

    /// The numbers of frames that were received, and of those that a newer frame replaced.
    var frameFigures: ClientAdvice.Frames {
        ClientAdvice.Frames(
            received: counters.framesReceived.current, wasted: slot.superseded + counters.framesAboveRate.current)
    }

    /// Frames that were received and never encoded.
    private var framesDropped: UInt64 {
        slot.superseded + counters.framesAboveRate.current + counters.framesOutOfOrder.current
            + counters.framesAbandoned.current + counters.framesPaused.current + framesCurtained
    }

    /// Frames that arrived while the curtain was up, and frames that were in progress or waiting when it was raised.
    var framesCurtained: UInt64 { counters.framesCurtained.current + slot.thrownAway }

    /// The client's samples so far, by outcome.
    var counts: CountersMessage {
        CountersMessage(
            framesTaken: counters.framesEncoded.current + counters.framesUnchanged.current,
            framesDropped: framesDropped,
            audioSamples: counters.audioFrames.reduce(0) { $0 + $1.current })
    }

    /// The client's account of its samples. A broadcast that reached one destination completely has not failed; the
    /// sentence names the other destinations.
    func goodbye(_ end: BroadcastEnd, drained: Bool, sentence: String) -> GoodbyeMessage {
        let snapshots = destinations.snapshots
        let reason: GoodbyeReason =
            switch end {
            case .finished: drained || snapshots.contains(where: \.isDrained) ? .finished : .failed
            case .daemonStopping: .daemonStopping
            case .endedByOperator: .endedByOperator
            case .clientVanished, .protocolError, .failed: .failed
            }
        let errors = snapshots.failures
        let why = errors.isEmpty ? "not everything could be sent in time" : errors
        let lost = snapshots.filter { $0.lostPackets > 0 }.map {
            "destination \"\($0.name)\" did not get \($0.lostPackets) packets"
        }
        let loss = drained ? lost.joined(separator: ", ") : why
        let text: String
        if case .finished = end, reason == .failed {
            // The user of the client knows that it finished, so the text leaves that out.
            let lead = snapshots.contains { $0.connects > 0 } ? "not everything was sent" : "nothing was published"
            text = errors.isEmpty ? why : "\(lead): \(errors)"
        } else {
            // The sentence of a failure already says why.
            text = loss.isEmpty || end.hasFailed ? sentence : "\(sentence); \(loss)"
        }
        let counts = counts
        return GoodbyeMessage(
            reason, text: text, framesTaken: counts.framesTaken, framesDropped: counts.framesDropped,
            audioSamples: counts.audioSamples)
    }
}
