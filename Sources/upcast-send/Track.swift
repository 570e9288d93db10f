import CaptureSources
import LinuxSystem
import MediaCore
import UpcastClient

extension MediaTime {
    /// The type of times in the client library.
    fileprivate var duration: Duration { .nanoseconds(nanoseconds) }
}

/// One track on its own thread: reads samples, waits until they are due and sends them.
struct Track {
    private let plan: SessionPlan
    private let connection: CaptureConnection
    private let shared: Monitor<Session.SharedState>
    /// Set if several pipes start together.
    private let live: LiveStart?

    init(
        _ plan: SessionPlan, _ connection: CaptureConnection, _ shared: Monitor<Session.SharedState>,
        _ live: LiveStart?
    ) {
        self.plan = plan
        self.connection = connection
        self.shared = shared
        self.live = live
    }

    func sendVideo(
        _ video: SessionPlan.Video, _ stream: InputStream?, _ settings: FeedSettings, _ stop: StopSignal
    ) throws {
        guard let source = try plan.source(of: video, stream) else { return }
        var settings = settings
        if let live, let ahead = stream?.ahead {
            settings.live = LivePipe(
                live, ahead, bytesPerSecond: Double(source.frameBytes) * source.rate.framesPerSecond,
                unit: source.frameBytes)
        }
        let feed = VideoFeed(source, schedule: plan.orientation, settings: settings, clock: stop)
        let frames = FrameInHand(connection)
        try unsafe feed.run(into: frames.memory, leftOut: { shared.withLock { $0.late += 1 } }) { pts, tag in
            guard !isPaused else { return }
            let orientation = tag.flatMap { CaptureOrientation(rawValue: $0.rawValue) }
            if let picture = source.borrowed {
                try unsafe connection.sendVideo(
                    copying: picture.bytes, format: CaptureVideoFormat(layout: picture.format), at: pts.duration,
                    orientation: orientation, secure: plan.secure, check: picture.checkRead)
            } else {
                guard try frames.send(at: pts, orientation, plan.secure) else { return }
            }
            shared.withLock { $0.frames += 1 }
        }
        noteEnd(settings.name, stop, source.cutShortBytes, source.hasHeader ? CutInput.header : CutInput.noHeader)
    }

    func sendAudio(
        _ source: CaptureAudioSource, _ audio: SessionPlan.Audio, _ stream: InputStream?, _ settings: FeedSettings,
        _ stop: StopSignal
    ) throws {
        guard let input = try plan.source(of: audio, stream) else { return }
        var settings = settings
        // Without pacing, a tone would run far ahead of the pictures.
        if case .tone = audio { settings.isPaced = true }
        if let live, let ahead = stream?.ahead {
            settings.live = LivePipe(
                live, ahead, bytesPerSecond: Double(input.format.bytesPerFrame * input.format.sampleRate))
        }
        try AudioFeed(input, settings: settings, clock: stop).run { input, pts in
            if isPaused { return }
            let samples = input.samples
            try connection.sendAudio(
                source, unsafe samples.span.bytes, format: CaptureAudioFormat(format: input.format),
                at: (pts + plan.audioOffset).duration)
        }
        var advice = CutInput.header
        if case .stream(_, .some) = audio { advice = CutInput.noAudioHeader }
        noteEnd(settings.name, stop, input.cutShortBytes, advice)
    }

    /// Sends all tracks of a stream.
    func send(_ input: any TimedInput, _ settings: FeedSettings, _ stop: StopSignal) throws {
        let feed = TimedFeed(input, schedule: plan.orientation, settings: settings, clock: stop)
        let frames = FrameInHand(connection)
        try unsafe feed.run(into: frames.memory, leftOut: { shared.withLock { $0.late += 1 } }) { track, pts, tag in
            guard !isPaused else { return }
            switch track {
            case .video:
                let orientation = tag.flatMap { CaptureOrientation(rawValue: $0.rawValue) }
                guard try frames.send(at: pts, orientation, plan.secure) else { return }
                shared.withLock { $0.frames += 1 }
            case .appAudio: try send(.app, input, input.appAudio, pts)
            case .microphone: try send(.microphone, input, input.microphone, pts)
            }
        }
        noteEnd(settings.name, stop, input.cutShortBytes, CutInput.header)
    }

    /// Records how many bytes the end of the input has left out, for the main thread to report.
    private func noteEnd(_ name: String, _ stop: StopSignal, _ cutShortBytes: Int?, _ advice: String) {
        // A stop also ends inputs that wait for more data.
        guard let cutShortBytes, !stop.isStopped else { return }
        shared.withLock { $0.cut.append(CutInput(name: name, bytes: cutShortBytes, advice: advice)) }
    }

    private func send(
        _ source: CaptureAudioSource, _ input: any TimedInput, _ format: AudioFormat?, _ pts: MediaTime
    ) throws {
        guard let format else { return }
        let samples = input.samples
        try connection.sendAudio(
            source, unsafe samples.span.bytes, format: CaptureAudioFormat(format: format),
            at: (pts + plan.audioOffset).duration)
    }

    private var isPaused: Bool { shared.withLock { $0.isPaused } }
}

/// The frame that a source fills next. One thread.
private final class FrameInHand {
    private let connection: CaptureConnection
    private var frame: CaptureFrame?

    init(_ connection: CaptureConnection) { self.connection = connection }

    /// Returns room for a picture. A frame that was not sent is given back first.
    func memory(_ format: VideoSampleFormat) throws -> UnsafeMutableRawBufferPointer {
        frame = nil
        let next = try connection.frame(CaptureVideoFormat(layout: format))
        frame = next
        return unsafe next.bytes
    }

    /// Sends the frame; false if there is none.
    func send(at pts: MediaTime, _ orientation: CaptureOrientation?, _ secure: CaptureSecureRegions) throws -> Bool {
        guard let frame else { return false }
        try connection.send(frame, at: pts.duration, orientation: orientation, secure: secure)
        self.frame = nil
        return true
    }
}
