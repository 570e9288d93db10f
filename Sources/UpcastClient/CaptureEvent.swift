internal import IngestProtocol

/// Something that the daemon reports.
public enum CaptureEvent: Hashable, Sendable {
    /// The state, for people or for pacing. It needs no answer. The text is the daemon's sentence.
    case state(BroadcastState, text: String)
    /// The progress of the broadcast, about once a second. A daemon older than the client may not send it.
    case counters(CaptureCounters)
    /// One message was refused; the broadcast goes on.
    case refused(CaptureRefusal)
    /// The broadcast is over.
    case goodbye(CaptureGoodbye)
}

/// What has become of a broadcast's samples so far.
public struct CaptureCounters: Hashable, Sendable {
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

    init(_ message: GoodbyeMessage) {
        framesTaken = message.framesTaken
        framesDropped = message.framesDropped
        audioSamples = message.audioSamples
    }
}

/// One message of the client that the daemon did not take.
public struct CaptureRefusal: Hashable, Sendable {
    public let code: DaemonErrorCode
    /// The message's number. The client's messages count from zero.
    public let sequence: UInt32
    /// The daemon's sentence.
    public let text: String

    init(_ message: ErrorMessage) {
        code = DaemonErrorCode(rawValue: message.codeRaw)
        sequence = message.refersTo
        text = message.text
    }
}

/// What became of a broadcast.
public struct CaptureGoodbye: Hashable, Sendable {
    public enum Reason: Sendable { case finished, daemonStopping, endedByOperator, failed, other }

    public let reason: Reason
    /// A sentence; may be empty.
    public let text: String
    /// Of the whole broadcast.
    public let counters: CaptureCounters

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
        counters = CaptureCounters(message)
    }
}
