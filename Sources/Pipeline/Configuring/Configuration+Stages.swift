internal import AudioMixing
internal import Buffering
internal import Configuration
internal import Encoding
internal import FrameGeometry
internal import Glibc
internal import IngestProtocol
internal import MediaCore
internal import Painting
internal import Privacy
internal import Publishing

/// Translates the configuration into each stage's settings. Stages do not know the configuration; only the files of
/// this folder know both.
extension Configuration {
    var canvasBackground: CanvasColor { canvasColor(video.background) }

    func canvasColor(_ color: RGBColor) -> CanvasColor {
        CanvasColor(red: color.red, green: color.green, blue: color.blue, color: video.canvas.color)
    }

    /// Full-range RGB.
    var secureColor: (red: UInt8, green: UInt8, blue: UInt8) {
        (privacy.secureColor.red, privacy.secureColor.green, privacy.secureColor.blue)
    }

    var canvasSecureColor: CanvasColor {
        CanvasColor(
            red: secureColor.red, green: secureColor.green, blue: secureColor.blue, color: video.canvas.color)
    }

    /// The style without a picture: `picture` becomes solid, because its file may be missing.
    var curtainStyle: CurtainStyle {
        func color(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> CanvasColor {
            CanvasColor(red: red, green: green, blue: blue, color: video.canvas.color)
        }
        return switch privacy.curtainStyle {
        case .solid, .picture: .solid(canvasColor(privacy.curtainColor))
        case .frostedLight: .frosted(tint: color(255, 255, 255), amount: 77)
        case .frostedExtraLight: .frosted(tint: color(255, 255, 255), amount: 179)
        case .frostedDark: .frosted(tint: color(0, 0, 0), amount: 154)
        }
    }

    var scalerChoice: ScalerChoice {
        switch video.scaler {
        case .auto: .auto
        case .native: .always(.native)
        case .libyuv: .always(.libyuv)
        }
    }

    /// - Parameter fit: the savings that fit the broadcast into its memory.
    func videoEncoderSettings(_ fit: MemoryFit) -> VideoEncoderSettings {
        var settings = VideoEncoderSettings(canvas: video.canvas, bitrate: video.bitrate)
        settings.encoder = video.encoder
        settings.effort = video.encoderEffort
        settings.preset = video.preset
        settings.tune = video.tune
        settings.profile = video.profile
        settings.threads = video.threads
        settings.bFrames = video.bFrames
        settings.subpixelMotion = fit.subpixelMotion
        settings.vbvMilliseconds = Int(video.vbv.milliseconds)
        settings.keyframeInterval = video.keyframeInterval
        settings.options = video.encoderOptions.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
        return settings
    }

    var audioEncoderSettings: AudioEncoderSettings {
        AudioEncoderSettings(sampleRate: audio.sampleRate, channels: audio.channels, bitrate: audio.bitrate)
    }

    /// - Parameter tracks: the tracks that the client announces; an empty set may mean any track.
    func mixerSettings(expecting tracks: StartedMessage.Tracks) -> AudioMixerSettings {
        var settings = AudioMixerSettings()
        settings.sampleRate = audio.sampleRate
        settings.channels = audio.channels
        settings.appGain = Self.linear(audio.appGainDecibels)
        settings.microphoneGain = Self.linear(audio.microphoneGainDecibels)
        settings.limiterCeiling = Float(audio.limiterCeilingDecibels)
        settings.minimumLatency = audio.minLatency
        settings.maximumLatency = audio.maxLatency
        if tracks.isEmpty || tracks.contains(.audioApp) { settings.expectedSources.insert(.app) }
        if tracks.isEmpty || tracks.contains(.audioMic) { settings.expectedSources.insert(.microphone) }
        return settings
    }

    var packetLogLimits: PacketLogLimits {
        PacketLogLimits(maxBytes: buffer.maxBytes, maxDuration: buffer.delay + buffer.duration, maxPackets: maxPackets)
    }

    /// The packets of both tracks over the log's duration, and half as many again for bursts.
    private var maxPackets: Int {
        let seconds = (buffer.delay + buffer.duration).secondsAsDouble
        let perSecond = video.frameRate.framesPerSecond + Double(audio.sampleRate) / 1024
        return max(64, Int(seconds * perSecond * 1.5))
    }

    private static func linear(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }
}

extension PrivacyConfiguration {
    /// Whether a protection is on at the start.
    func has(_ protection: Protection) -> Bool {
        switch protection {
        case .secureRegions: secureRegions
        case .standingRegions: standingRegions
        case .curtain: curtain
        case .automaticCurtain: automaticCurtain
        case .takeBack: takeBack
        case .captureState: captureState
        }
    }

    var protectionsOff: Set<Protection> { Set(Protection.allCases.filter { !has($0) }) }
}

extension Configuration {
    var privacyPolicy: PrivacyDesk.Policy {
        PrivacyDesk.Policy(
            off: privacy.protectionsOff,
            takeBackNewerThan: privacy.takeBackNewerThan == .zero ? nil : privacy.takeBackNewerThan,
            consultedReturn: privacy.consultedReturn == .zero ? nil : privacy.consultedReturn)
    }

    /// The limits and the canvas that a client can rely on.
    func welcome(broadcastID: String) -> WelcomeMessage {
        let canvas = video.canvas
        return WelcomeMessage(
            limits: .default, canvasWidth: canvas.width, canvasHeight: canvas.height, frameRate: canvas.frameRate,
            audioRate: audio.sampleRate, broadcastID: broadcastID,
            sharedMemory: SharedMemoryOffer(
                maxPools: IngestLimits.maxSharedPools, maxPoolBytes: IngestLimits.default.maxSharedPoolBytes),
            takesDamage: video.scaler != .libyuv)
    }
}
