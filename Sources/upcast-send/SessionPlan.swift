import CaptureSources
import Glibc
import IngestProtocol
import MediaCore
import UpcastClient

/// The checked command line, before anything is opened.
struct SessionPlan: Sendable {
    enum Video: Sendable {
        case pattern(VideoSampleFormat, FrameRate)
        case raw(path: String, VideoSampleFormat, FrameRate)
        /// The rate is nil for that of the stream.
        case y4m(path: String, FrameRate?)

        /// The file or pipe to read.
        var path: String? {
            switch self {
            case .pattern: nil
            case .raw(let path, _, _), .y4m(let path, _): path
            }
        }
    }
    enum Audio: Sendable {
        case tone(AudioFormat, frequency: Int)
        /// The format is nil for a stream with a header.
        case stream(path: String, raw: AudioFormat?)

        /// The file or pipe to read.
        var path: String? { if case .stream(let path, _) = self { path } else { nil } }
    }

    var socket: String
    var name: String
    var convention: MediaCore.OrientationConvention
    var orientation: OrientationSchedule
    /// The secure regions of every frame.
    var secure: CaptureSecureRegions
    /// The path of a NUT or Matroska stream, in place of `video` and `appAudio`.
    var stream: String?
    var video: Video?
    var appAudio: Audio?
    var microphone: Audio?
    var matrix: ColorMatrix?
    var range: ColorRange?
    /// Added to the times of all audio.
    var audioOffset: MediaTime
    var duration: MediaTime?
    var loops: Bool
    var isPaced: Bool
    var sharesMemory: Bool
    var pauses: [(start: MediaTime, end: MediaTime)]
    var showsProgress: Bool
    var isQuiet: Bool

    init(_ command: UpcastSend) throws(InputError) {
        let sound = "write none, tone, a file, or - for standard input"
        try SourceArguments.refuseEmpty([
            ("--socket", command.socket, SourceArguments.socketRemedy),
            ("--name", command.name, SourceArguments.nameRemedy),
            ("--video", command.video, "write pattern, none, a file, or - for standard input"),
            ("--app-audio", command.appAudio, sound), ("--mic", command.mic, sound),
            ("the stream", command.input, "name a NUT or Matroska file, or - for standard input"),
        ])
        socket = command.socket ?? Self.environment("UPCAST_SOCKET") ?? CaptureConnection.defaultPath
        name = command.name
        convention = command.convention == .exif ? .exif : .replayKit
        orientation = try OrientationSchedule(command.orientation)
        guard command.secure.count <= CaptureSecureRegions.capacity else {
            throw InputError("--secure can be used at most \(CaptureSecureRegions.capacity) times")
        }
        var regions: [CaptureRectangle] = []
        for text in command.secure {
            let (x, y, width, height) = try SourceArguments.rectangle(text)
            regions.append(.init(x: x, y: y, width: width, height: height))
        }
        secure = CaptureSecureRegions(regions)
        matrix = command.color.map { $0 == .bt709 ? .bt709 : $0 == .bt601 ? .bt601 : .bt2020 }
        range = command.range.map { $0 == .video ? .video : .full }
        loops = command.loop
        isPaced = command.pace
        sharesMemory = command.sharedMemory
        isQuiet = command.quiet
        showsProgress = !command.quiet && isatty(STDERR_FILENO) == 1
        pauses = []
        for text in command.pauseAt { pauses.append(try SourceArguments.pause(text)) }
        pauses.sort { $0.start < $1.start }
        duration = try command.seconds.map { seconds throws(InputError) in try SourceArguments.duration(seconds) }
        guard (-1000...1000).contains(command.audioOffset) else {
            throw InputError("--audio-offset \(command.audioOffset) is not between -1000 and 1000 ms")
        }
        audioOffset = .milliseconds(Int64(command.audioOffset))
        stream = command.input
        if stream != nil { try Self.refuseWithStream(command) }
        let videoSource = command.video ?? (stream == nil ? "pattern" : "none")
        // By default, only the pattern has a tone.
        let appAudioSource = command.appAudio ?? (videoSource == "pattern" ? "tone" : "none")
        let microphoneSource = command.mic ?? "none"
        appAudio = try Self.audio(
            appAudioSource, command.appAudioFormat,
            tone: AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true), frequency: 440)
        microphone = try Self.audio(
            microphoneSource, command.micFormat,
            tone: AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16), frequency: 880)
        video = try Self.video(videoSource, command, matrix, range)
        guard [stream, videoSource, appAudioSource, microphoneSource].filter({ $0 == "-" }).count <= 1 else {
            throw InputError("only one of the stream, --video, --app-audio and --mic can read standard input")
        }
        guard stream != nil || video != nil || appAudio != nil || microphone != nil else {
            throw InputError("there is nothing to send: --video, --app-audio and --mic are all none")
        }
    }

    /// The stream has its own pictures, app audio and formats.
    private static func refuseWithStream(_ command: UpcastSend) throws(InputError) {
        let given = [
            ("--video", command.video), ("--format", command.format), ("--size", command.size),
            ("--rate", command.rate), ("--app-audio", command.appAudio), ("--app-audio-format", command.appAudioFormat),
        ]
        guard let name = given.first(where: { $0.1 != nil })?.0 else { return }
        throw InputError("\(command.input ?? "") carries video and app audio with their formats; leave out \(name)")
    }

    private static func video(
        _ source: String, _ command: UpcastSend, _ matrix: ColorMatrix?, _ range: ColorRange?
    ) throws(InputError) -> Video? {
        if source == "none" { return nil }
        var rate: FrameRate?
        if let text = command.rate { rate = try SourceArguments.rate(text) }
        var size: (width: Int, height: Int)?
        if let text = command.size { size = try SourceArguments.size(text) }
        let isPattern = source == "pattern"
        let name = command.format ?? (isPattern ? "420v" : "y4m")
        if name.lowercased() == "y4m", !isPattern { return .y4m(path: source, rate) }

        let pixelFormat = try SourceArguments.pixelFormat(name)
        guard let (width, height) = size ?? (isPattern ? (1280, 720) : nil) else {
            throw InputError("raw \(name) pictures require --size")
        }
        let format = VideoSampleFormat(
            packed: pixelFormat, width: width, height: height,
            color: ColorDescription(
                matrix: matrix, range: range, defaultsFor: pixelFormat, width: width, height: height))
        let known = rate ?? FrameRate(30)
        return isPattern ? .pattern(format, known) : .raw(path: source, format, known)
    }

    private static func audio(_ text: String, _ format: String?, tone: AudioFormat, frequency: Int) throws(InputError)
        -> Audio?
    {
        var given: AudioFormat?
        if let format { given = try SourceArguments.audioFormat(format) }
        if text == "none" { return nil }
        guard text == "tone" || text.hasPrefix("tone:") else { return .stream(path: text, raw: given) }
        guard text == "tone" || Int(text.dropFirst(5)) != nil else {
            throw InputError("\(text) is not a tone; write tone:440")
        }
        return .tone(given ?? tone, frequency: Int(text.dropFirst(5)) ?? frequency)
    }

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// How many inputs are files or pipes with one track.
    var separateStreams: Int {
        [video?.path, appAudio?.path, microphone?.path].count { $0 != nil }
    }

    /// The setup of the broadcast, with the properties that are known before a sample is read.
    ///
    /// - Parameter timed: the opened stream, if there is one.
    func setup(_ timed: (any TimedInput)?) -> BroadcastSetup {
        var setup = BroadcastSetup(clientName: name, convention: convention == .exif ? .exif : .replayKit)
        setup.sendsVideo = video != nil || timed?.video != nil
        setup.sendsAppAudio = appAudio != nil || timed?.appAudio != nil
        setup.sendsMicrophone = microphone != nil || timed?.microphone != nil
        switch video {
        case .pattern(let format, let rate), .raw(_, let format, let rate):
            setup.expectedSize = CaptureSize(width: format.width, height: format.height)
            setup.expectedRate = CaptureFrameRate(rate.numerator, rate.denominator)
        default: setup.source = .file
        }
        if let format = timed?.video {
            setup.expectedSize = CaptureSize(width: format.width, height: format.height)
        }
        return setup
    }
}
