internal import Adaptation
internal import Buffering
internal import Encoding
internal import LinuxSystem
internal import MediaCore
internal import Synchronization

/// The encoder of a broadcast. Another encoder can replace it to save memory or processor time; the stream continues.
///
/// Video thread only, except for the requests.
final class RunningEncoder: @unchecked Sendable /* all state but the wishes belongs to the video thread */ {
    /// Nil only while an encoder is replaced: two never hold memory at once.
    private var open: VideoEncoder?
    /// The settings of the first encoder.
    private let settings: VideoEncoderSettings
    private var chosen: EncoderChoice
    private var effort: EffortControl?
    private let sink: any PacketSink
    private let clock: any TimeSource
    /// Returns the step that the links ask for, if it has changed; called before each frame.
    private let adapt: @Sendable (MediaTime) -> BitrateStep?
    private let onEffort: @Sendable (EffortStep) -> Void
    /// Frames until the encoder hangs, for a test.
    private var framesUntilFreeze: Int?

    private let keyframeWanted = Atomic(false)
    private let savingsWanted = Atomic<UInt8>(0)
    private let effortInForce: Monitor<VideoEffort?>

    /// - Parameters:
    ///   - encoder: opened with `settings`.
    ///   - effort: decides the encoder's effort; nil if a preset does.
    ///   - clock: the monotonic clock.
    ///   - onEffort: called on the video thread when the effort changes.
    init(
        _ encoder: VideoEncoder, settings: VideoEncoderSettings, effort: EffortControl?, sink: any PacketSink,
        clock: any TimeSource, freeze: TestFreeze? = nil,
        adapt: @escaping @Sendable (MediaTime) -> BitrateStep?, onEffort: @escaping @Sendable (EffortStep) -> Void
    ) {
        open = encoder
        self.settings = settings
        self.effort = effort
        chosen = EncoderChoice(effort: effort?.effort)
        effortInForce = Monitor(effort?.effort)
        self.sink = sink
        self.clock = clock
        framesUntilFreeze = freeze?.encoderFrames
        self.adapt = adapt
        self.onEffort = onEffort
    }

    // MARK: Wishes, from any thread

    /// Makes the next frame a keyframe.
    func requestKeyframe() { keyframeWanted.store(true, ordering: .relaxed) }

    /// Sets the encoder's savings, because memory is short. They take effect with the next frame or the one after it,
    /// which becomes a keyframe.
    func save(_ savings: EncoderSavings) { savingsWanted.store(savings.rawValue, ordering: .relaxed) }

    /// The effort in force; nil if a preset decides.
    var currentEffort: VideoEffort? { effortInForce.withLock { $0 } }

    // MARK: The video thread

    private var encoder: VideoEncoder {
        guard let open else { preconditionFailure("no encoder is open") }
        return open
    }

    /// Whether a frame leaves the encoder later than it enters.
    var holdsFrames: Bool { encoder.holdsFrames }

    /// Continues the stream after `last`, in another epoch, with a keyframe. `last` is nil if nothing was taken back.
    func goBack(to last: MediaTime?, epoch: CurtainEpoch) {
        encoder.goBack(to: last, epoch: epoch)
        requestKeyframe()
    }

    /// Applies what memory, processor and links ask for, before the frame for `pts` is encoded at `now`.
    ///
    /// - Returns: the step that the links ask for, if it has changed.
    func prepare(for pts: MediaTime, at now: MediaTime) throws(WorkerFailure) -> BitrateStep? {
        try choose(for: pts)
        guard let step = adapt(now) else { return nil }
        try encoding { () throws(EncodingError) in try encoder.setBitrate(step.bitrate) }
        return step
    }

    /// - Parameters:
    ///   - arrival: when the client's frame arrived; zero for a repeat and the curtain.
    ///   - superseded: returns how many frames newer ones have replaced; called once a second.
    func encode(
        _ picture: PicturePlanes, pts: MediaTime, arrival: MediaTime, epoch: CurtainEpoch, superseded: () -> UInt64
    ) throws(WorkerFailure) {
        let force = keyframeWanted.exchange(false, ordering: .relaxed)
        if let frames = framesUntilFreeze {
            guard frames > 0 else { TestFreeze.forEver() }
            framesUntilFreeze = frames - 1
        }
        let begin = clock.now()
        try encoding { () throws(EncodingError) in
            try encoder.encode(picture, pts: pts, forceKeyframe: force, arrival: arrival, epoch: epoch, into: sink)
        }
        let end = clock.now()
        if let step = effort?.note(took: end - begin, now: end, superseded: superseded) { onEffort(step) }
    }

    /// Encodes all frames that the encoder still holds.
    func finish() throws(WorkerFailure) {
        try encoding { () throws(EncodingError) in try encoder.finish(into: sink) }
    }

    /// Replaces the encoder if memory or the processor asks for it. A change that only improves pictures waits for a
    /// keyframe that is due.
    private func choose(for pts: MediaTime) throws(WorkerFailure) {
        let savings = EncoderSavings(rawValue: savingsWanted.load(ordering: .relaxed))
        let wanted = EncoderChoice(savings: savings, effort: effort?.effort)
        guard wanted != chosen, !encoder.endsWithKeyframe else { return }
        if chosen.canWait(for: wanted), !encoder.isKeyframeDue(at: pts) { return }
        try change(to: wanted)
    }

    /// Closes the encoder and continues with other settings.
    private func change(to choice: EncoderChoice) throws(WorkerFailure) {
        chosen = choice
        effortInForce.withLock { $0 = choice.effort }
        let next = choice.settings(settings)
        let format = encoder.format
        try finish()
        let continuation = encoder.continuation
        open = nil
        try encoding { () throws(EncodingError) in open = try VideoEncoder(next, continuing: continuation) }
        guard encoder.format.decoderConfiguration == format.decoderConfiguration else {
            throw WorkerFailure(sentence: "encoding failed: the encoder's parameter sets changed")
        }
        ProcessMemory.releaseFreed()
    }
}
