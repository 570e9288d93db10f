import CaptureSources
import UpcastClient

/// An input that one thread of the session sends.
struct SessionInput: Sendable {
    enum Kind: Sendable {
        case video(SessionPlan.Video)
        case audio(CaptureAudioSource, SessionPlan.Audio)
        /// All tracks of one stream, with their times.
        case timed(ContainerInput)
    }

    let kind: Kind
    /// Nil for a pattern or a tone.
    let stream: InputStream?

    /// Buffer sizes for pipes: 1.5 s of 720p at 30 frames/s, 5 s of stereo.
    private static let videoAheadBytes = 64 << 20
    private static let audioAheadBytes = 1 << 20

    /// Opens all inputs, and reads the beginning of regular files. Waits for the header of a stream that has one for
    /// all tracks.
    static func open(
        _ plan: SessionPlan, _ stop: StopSignal, _ inputs: inout [SessionInput]
    ) throws(InputError) {
        // Several pipes are observed at the start. They are read ahead for that.
        let (videoAhead, audioAhead) =
            plan.isPaced || plan.separateStreams > 1 ? (videoAheadBytes, audioAheadBytes) : (0, 0)
        if let video = plan.video {
            let stream = try video.path.map { path throws(InputError) in
                try InputStream(path, stop, aheadBytes: videoAhead)
            }
            inputs.append(SessionInput(kind: .video(video), stream: stream))
        }
        for (source, audio) in [(CaptureAudioSource.app, plan.appAudio), (.microphone, plan.microphone)] {
            guard let audio else { continue }
            let stream = try audio.path.map { path throws(InputError) in
                try InputStream(path, stop, aheadBytes: audioAhead)
            }
            inputs.append(SessionInput(kind: .audio(source, audio), stream: stream))
        }
        for input in inputs { try input.checkFile(plan) }
        if let path = plan.stream {
            let stream = try InputStream(path, stop, aheadBytes: videoAhead)
            let timed: ContainerInput
            do {
                if !stream.file.isLive {
                    try stream.file.lookAhead { try plan.source(of: stream).checkFirstSample() }
                }
                timed = try plan.source(of: stream)
            } catch {
                stop.stop()
                stream.ahead?.close()
                throw Self.naming(stream.file.name, error)
            }
            inputs.append(SessionInput(kind: .timed(timed), stream: stream))
        }
    }

    /// Refuses a file with a wrong header or without samples, before viewers see a broadcast. Those of a pipe may come
    /// late.
    private func checkFile(_ plan: SessionPlan) throws(InputError) {
        guard let stream, !stream.file.isLive else { return }
        do {
            try stream.file.lookAhead {
                switch kind {
                case .video(let video): try plan.source(of: video, stream)?.checkFirstSample()
                case .audio(_, let audio): try plan.source(of: audio, stream)?.checkFirstSample()
                case .timed: break
                }
            }
        } catch {
            throw naming(error, in: plan)
        }
    }

    /// An error that also names the file or pipe of this input, or its track if it has none. Beside other files and
    /// pipes, it names both: users do not know the names that `<(...)` gives, and two tracks may have one file.
    func naming(_ error: any Error, in plan: SessionPlan) -> InputError {
        let named = Self.naming(stream?.file.name ?? name, error)
        guard stream != nil, plan.separateStreams > 1 else { return named }
        return InputError("\(name): \(named)", namesInput: true)
    }

    private static func naming(_ name: String, _ error: any Error) -> InputError {
        if let error = error as? InputError, error.namesInput { return error }
        return InputError("\(name): \(error)", namesInput: true)
    }

    /// The name in messages.
    var name: String {
        switch kind {
        case .video: "video"
        case .audio(.app, _): "app audio"
        case .audio(.microphone, _): "microphone"
        case .timed: "the stream"
        }
    }

    var threadName: String {
        switch kind {
        case .video: "send-video"
        case .audio(.app, _): "send-app-audio"
        case .audio(.microphone, _): "send-mic"
        case .timed: "send-stream"
        }
    }

    /// Whether the input has an end.
    var isFinite: Bool { stream != nil }

    /// Whether this is a pipe with one track, which has no times.
    var isSeparatePipe: Bool { timed == nil && stream?.ahead != nil }

    var timed: ContainerInput? { if case .timed(let input) = kind { input } else { nil } }
}
