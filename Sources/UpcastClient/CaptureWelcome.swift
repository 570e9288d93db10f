internal import IngestProtocol
internal import MediaCore

/// What the daemon takes, and what it encodes.
public struct CaptureWelcome: Equatable, Sendable {
    public let protocolVersion: UInt8
    /// Names the broadcast in the daemon's log and status.
    public let broadcastID: String
    /// Frames that are wider or higher are refused.
    public let maxSize: CaptureSize
    /// Formats that the daemon takes, without those that this version has no name for.
    public let pixelFormats: [CapturePixelFormat]
    /// The size of the encoded picture.
    public let canvas: CaptureSize
    /// The most frames a second that are encoded.
    public let frameRate: CaptureFrameRate
    /// The sample rate of the encoded audio track, in Hz.
    public let audioSampleRate: Int

    let limits: IngestLimits

    init(_ message: WelcomeMessage) {
        protocolVersion = message.version
        broadcastID = message.broadcastID
        maxSize = CaptureSize(width: message.limits.maxWidth, height: message.limits.maxHeight)
        pixelFormats = message.formats.compactMap { CapturePixelFormat(rawValue: $0.description) }
        canvas = CaptureSize(width: message.canvasWidth, height: message.canvasHeight)
        frameRate = CaptureFrameRate(message.frameRate.numerator, message.frameRate.denominator)
        audioSampleRate = message.audioRate
        limits = message.limits
    }
}
