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

/// One broadcast from its client's `started` to its last byte: owns every stage, and the order in which they start
/// (ends first) and stop (sources first).
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
    /// Why the curtain is not the one that was asked for, as a sentence.
    let curtainProblem: String?
    private let curtain: Curtain
    /// What was taken back when the curtain was raised last.
    private let taken = TakeBackFigure()
    /// How often the curtain had been raised before.
    private let firstEpoch: CurtainEpoch
    private let audio: AudioWorker
    private let videoThread: WorkerThread
    private let audioThread: WorkerThread

    /// Bytes of raw PCM that may wait: the largest message (512 KiB) and as much again.
    static let pcmQueueBytes = 1024 * 1024

    /// - Parameters:
    ///   - worked: URLs of destinations that have worked in an earlier broadcast, by name.
    ///   - release: lets go of what awaits a picture that may be shown; its time. Called on the ingest thread.
    ///   - refuse: takes note that a picture's regions were not understood, and why. Called on the ingest thread.
    ///   - onEvent: what a destination tells, with its name; called on the destination's thread.
    ///   - onBitrate: what the encoder is told because of the network; called on the video thread.
    ///   - onEffort: what the encoder does because of the processor; called on the video thread.
    ///   - onFailure: called once by any thread when the broadcast cannot go on.
    ///   - freeze: for a test, the encoder hangs.
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
        // Decoding a picture takes memory that the encoder is given later.
        let paint = configuration.curtainPaint()
        curtainProblem = paint.problem
        clock = BroadcastClock(monotonic)
        counters = BroadcastCounters()
        var bars = CanvasBars(canvas: canvas, background: configuration.canvasBackground)
        let background = Picture(width: canvas.width, height: canvas.height)
        bars.fill(background)
        // Nothing has been allowed yet. A client without pictures has none to hide.
        if started.tracks.isEmpty || started.tracks.contains(.video) {
            paint.painter.paint(background.planes, after: background.planes)
        }
        savings = MemorySavings(configuration)
        slot = FrameSlot(shown: background, others: savings.fit.pictures - 1)
        queue = PCMQueue(capacity: Self.pcmQueueBytes)
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
        // Opening them touched tables and code that are not needed again. No destination runs yet, so nobody loads a
        // library meanwhile.
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
                let step = bitrate.look(at: now, destinations.forEachLink)
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
        // Weak: the worker writes to the log, and would otherwise live as long as it.
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

    /// Starts the encoders' threads; where the second cannot be had, the first is stopped again.
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

    /// After the curtain was raised: throws away every picture and packet that has not gone out. Once it returns, none
    /// of them will. Any thread; waits for no data thread.
    ///
    /// - Parameter age: throws away only packets that are newer than this; nil for all.
    func takeBack(newerThan age: MediaTime?) -> (TakenBack, lastPTS: [(name: String, lastPTS: MediaTime?)]) {
        let epoch = curtain.stamp.epoch
        let result = log.takeBack(epoch: epoch, newerThan: age)
        taken.leave(result, of: epoch)
        let lastPTS = destinations.takeBack(before: epoch, keeping: result.keptUntil)
        snapshots.forget(before: epoch)
        slot.throwAway()
        return (result, lastPTS)
    }

    /// Does what is missing where the curtain was raised while this broadcast was being made, and nobody knew of it:
    /// its threads wait for the figure. Call it once whoever raises the curtain does know.
    func takeBackWhatWasMissed() {
        if curtain.stamp.epoch != firstEpoch { _ = takeBack(newerThan: nil) }
    }

    /// What was to be shown up to then was not taken back when the curtain was raised last; nil where everything was.
    var lastKeptPTS: MediaTime? { taken.lastKeptPTS }

    var mixerCounters: AudioMixerCounters { audio.mixerCounters }

    /// Of every thread that is this broadcast's own; without an array, for the main thread's looks.
    func forEachWorkMark(_ body: (WorkMark) -> Void) {
        body(video.work)
        body(audio.work)
        destinations.forEachWorkMark(body)
    }

    /// Stops sources first: what was taken in is encoded, what was encoded is sent until `deadline`, then every
    /// destination unpublishes and closes. Blocks; returns true when everything was sent in time.
    func close(deadline: MediaTime) -> Bool {
        taken.end()
        slot.close()
        // What the encoder holds comes before the last sound, which would overtake it.
        videoThread.join()
        queue.close()
        audioThread.join()
        log.end(at: clock.monotonic.now())
        if !destinations.close(deadline: deadline) {
            // Whoever hangs keeps the log: no more than a piece of it.
            _ = log.resize(maxBytes: 64 * 1024, maxDelay: .zero)
        }
        return destinations.snapshots.allSatisfy(\.isDrained)
    }

    /// Frames that came, and those of them that a newer one replaced.
    var frameFigures: ClientAdvice.Frames {
        ClientAdvice.Frames(
            received: counters.framesReceived.current, wasted: slot.superseded + counters.framesAboveRate.current)
    }

    /// Frames that were received and never encoded.
    private var framesDropped: UInt64 {
        slot.superseded + counters.framesAboveRate.current + counters.framesOutOfOrder.current
            + counters.framesAbandoned.current + counters.framesPaused.current + framesCurtained
    }

    /// Frames that came while the curtain was up, were in hand when it was raised, or waited then.
    var framesCurtained: UInt64 { counters.framesCurtained.current + slot.thrownAway }

    /// What has become of the client's samples so far.
    var counts: CountersMessage {
        CountersMessage(
            framesTaken: counters.framesEncoded.current + counters.framesUnchanged.current,
            framesDropped: framesDropped,
            audioSamples: counters.audioFrames.reduce(0) { $0 + $1.current })
    }

    /// The client's account of what became of its samples. A broadcast that reached one destination whole has not
    /// failed; the sentence names the others.
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
        // A failure's own sentence says why.
        let text = loss.isEmpty || end.hasFailed ? sentence : "\(sentence); \(loss)"
        let counts = counts
        return GoodbyeMessage(
            reason, text: text, framesTaken: counts.framesTaken, framesDropped: counts.framesDropped,
            audioSamples: counts.audioSamples)
    }
}
