import IngestProtocol
import MediaCore

/// Any message of either side, decoded by its header's type: what a receiver does, in one place for the tests.
enum AnyMessage: Equatable {
    case started(StartedMessage)
    case video(VideoMessage)
    case audio(AudioSource, AudioMessage)
    case bare(MessageType)
    case annotated(AnnotatedMessage)
    case finished(FinishedMessage)
    case welcome(WelcomeMessage)
    case state(StateMessage)
    case error(ErrorMessage)
    case goodbye(GoodbyeMessage)
    case counters(CountersMessage)
    case sharedMemory(SharedMemoryMessage)
    case released(ReleasedMessage)
    case unknown(UInt8)

    /// Decodes header and body at the start of `bytes`; the payload need not be there.
    static func decode(_ bytes: [UInt8], limits: IngestLimits = .default) throws(ProtocolError)
        -> (header: MessageHeader, message: AnyMessage)
    {
        let span = bytes.span.bytes
        let header = try MessageHeader.decode(span, limits: limits)
        guard bytes.count >= MessageHeader.byteCount + header.bodyBytes else {
            throw ProtocolError(.truncated, fatal: true, "the body is shorter than its header says")
        }
        let body = span.extracting(MessageHeader.byteCount..<(MessageHeader.byteCount + header.bodyBytes))
        return (header, try decode(body: body, header, limits))
    }

    private static func decode(body: RawSpan, _ header: MessageHeader, _ limits: IngestLimits) throws(ProtocolError)
        -> AnyMessage
    {
        let payload = header.payloadBytes
        switch header.type {
        case .started: return .started(try StartedMessage.decode(body: body))
        case .video: return .video(try VideoMessage.decode(body: body, payloadBytes: payload, limits: limits))
        case .audioApp, .audioMic:
            let message = try AudioMessage.decode(
                body: body, payloadBytes: payload, limits: limits, type: header.type ?? .audioApp)
            return .audio(header.type == .audioApp ? .app : .microphone, message)
        case .paused, .resumed:
            try BareMessage.check(body: body, type: header.type ?? .paused)
            return .bare(header.type ?? .paused)
        case .annotated: return .annotated(try AnnotatedMessage.decode(body: body))
        case .finished: return .finished(try FinishedMessage.decode(body: body))
        case .welcome: return .welcome(try WelcomeMessage.decode(body: body))
        case .state: return .state(try StateMessage.decode(body: body))
        case .error: return .error(try ErrorMessage.decode(body: body))
        case .goodbye: return .goodbye(try GoodbyeMessage.decode(body: body))
        case .counters: return .counters(try CountersMessage.decode(body: body))
        case .sharedMemory: return .sharedMemory(try SharedMemoryMessage.decode(body: body))
        case .released: return .released(try ReleasedMessage.decode(body: body))
        case nil: return .unknown(header.rawType)
        }
    }

    /// Header and body as bytes.
    func encoded(sequence: UInt32, payloadBytes: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .started(let message): message.encode(sequence: sequence, into: &bytes)
        case .video(let message): message.encode(sequence: sequence, payloadBytes: payloadBytes, into: &bytes)
        case .audio(let source, let message): message.encode(source, sequence: sequence, into: &bytes)
        case .bare(let type): BareMessage.encode(type, sequence: sequence, into: &bytes)
        case .annotated(let message): message.encode(sequence: sequence, into: &bytes)
        case .finished(let message): message.encode(sequence: sequence, into: &bytes)
        case .welcome(let message): message.encode(sequence: sequence, into: &bytes)
        case .state(let message): message.encode(sequence: sequence, into: &bytes)
        case .error(let message): message.encode(sequence: sequence, into: &bytes)
        case .goodbye(let message): message.encode(sequence: sequence, into: &bytes)
        case .counters(let message): message.encode(sequence: sequence, into: &bytes)
        case .sharedMemory(let message): message.encode(sequence: sequence, into: &bytes)
        case .released(let message): message.encode(sequence: sequence, into: &bytes)
        case .unknown(let raw):
            MessageHeader(rawType: raw, bodyBytes: 0, payloadBytes: payloadBytes, sequence: sequence).encode(
                into: &bytes)
        }
        return bytes
    }
}

/// Bytes from hexadecimal digits; anything else in the text only separates.
func bytes(hex text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
