internal import IngestProtocol
internal import MediaCore

/// What the daemon takes and what it makes of it.
public struct CaptureWelcome: Equatable, Sendable {
    public let protocolVersion: UInt8
    /// Names the broadcast in the daemon's log and status.
    public let broadcastID: String
    /// Larger frames are refused.
    public let maxWidth: Int
    public let maxHeight: Int
    /// Formats by FourCC, as in `CapturePixelFormat.rawValue`.
    public let pixelFormats: [String]
    /// The picture that is encoded.
    public let canvasWidth: Int
    public let canvasHeight: Int
    /// Frames a second that are encoded at most, as a fraction.
    public let frameRate: (numerator: Int, denominator: Int)
    /// Frames a second of the encoded audio track.
    public let audioRate: Int

    let limits: IngestLimits

    init(_ message: WelcomeMessage) {
        protocolVersion = message.version
        broadcastID = message.broadcastID
        maxWidth = message.limits.maxWidth
        maxHeight = message.limits.maxHeight
        pixelFormats = message.formats.map(\.description)
        canvasWidth = message.canvasWidth
        canvasHeight = message.canvasHeight
        frameRate = (message.frameRate.numerator, message.frameRate.denominator)
        audioRate = message.audioRate
        limits = message.limits
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.broadcastID == b.broadcastID && a.limits == b.limits && a.pixelFormats == b.pixelFormats
            && a.canvasWidth == b.canvasWidth && a.canvasHeight == b.canvasHeight && a.frameRate == b.frameRate
            && a.audioRate == b.audioRate && a.protocolVersion == b.protocolVersion
    }
}

/// How the broadcast is doing.
public enum CaptureState: Sendable {
    /// The value is the number of the attempt.
    case connecting
    case live
    /// The value is milliseconds queued.
    case congested
    /// The value is milliseconds until the next attempt.
    case reconnecting
    /// The value is the frames a second that would be enough.
    case slowDown
    /// The value is milliseconds queued; a goodbye follows.
    case draining
    /// One of several destinations is not reached; the value is how many are.
    case degraded
    /// Viewers see a curtain in place of what is sent; the value says because of whom, in the bits of docs/protocol.md,
    /// and the sentence says it in words.
    case curtainUp
    /// Viewers see what is sent again. A picture that stands still is to be sent once more.
    case curtainDown
    /// A state that this version has no name for; the sentence says what it is.
    case other

    init(_ state: BroadcastState?) {
        self =
            switch state {
            case .connecting: .connecting
            case .live: .live
            case .congested: .congested
            case .reconnecting: .reconnecting
            case .slowDown: .slowDown
            case .draining: .draining
            case .degraded: .degraded
            case .curtainUp: .curtainUp
            case .curtainDown: .curtainDown
            case nil: .other
            }
    }
}

/// What has become of a broadcast's samples so far.
public struct CaptureCounters: Equatable, Sendable {
    /// Frames that were encoded.
    public let framesTaken: UInt64
    /// Frames that were taken and not encoded: superseded by a newer one, too many, or out of order.
    public let framesDropped: UInt64
    /// PCM frames taken, app and microphone added up.
    public let audioSamples: UInt64

    init(_ message: CountersMessage) {
        framesTaken = message.framesTaken
        framesDropped = message.framesDropped
        audioSamples = message.audioSamples
    }
}

/// What became of a broadcast.
public struct CaptureGoodbye: Equatable, Sendable {
    public enum Reason: Sendable { case finished, daemonStopping, endedByOperator, failed, other }

    public let reason: Reason
    /// A sentence; may be empty.
    public let text: String
    /// Frames that were encoded.
    public let framesTaken: UInt64
    /// Frames that were taken and not encoded: superseded by a newer one, too many, or out of order.
    public let framesDropped: UInt64
    /// PCM frames taken, app and microphone added up.
    public let audioSamples: UInt64

    init(_ message: GoodbyeMessage) {
        reason =
            switch message.reason {
            case .finished: .finished
            case .daemonStopping: .daemonStopping
            case .endedByOperator: .endedByOperator
            case .failed: .failed
            case nil: .other
            }
        text = message.text
        framesTaken = message.framesTaken
        framesDropped = message.framesDropped
        audioSamples = message.audioSamples
    }
}

/// Something the daemon said.
public enum CaptureEvent: Equatable, Sendable {
    /// News, for people or for pacing; needs no answer.
    case state(CaptureState, value: Int, text: String)
    /// How far it is, about once a second; a daemon older than the client may say nothing of it.
    case counters(CaptureCounters)
    /// One message was refused; the broadcast goes on. `sequence` counts the client's messages from zero.
    case refused(daemonCode: UInt16, sequence: UInt32, text: String)
    /// The broadcast is over.
    case goodbye(CaptureGoodbye)
}
