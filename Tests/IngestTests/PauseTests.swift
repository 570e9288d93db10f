import Ingest
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

/// `paused` and `resumed` have no fields, but their bodies are looked at like all others: a client that means something
/// by one is told that it was not understood.
@Suite(.endsWithin(60)) struct PauseTests {
    struct Body: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        /// Nil where the body is in order.
        let code: ErrorCode?
        let testDescription: String
    }

    static let bodies = [
        Body(bytes: [], code: nil, testDescription: "nothing"),
        Body(bytes: [7, 0, 0, 0], code: nil, testDescription: "an extension that may be skipped"),
        Body(bytes: [1, 2, 3], code: .malformedExtension, testDescription: "stray bytes"),
        Body(bytes: [7, 0, 9, 0], code: .malformedExtension, testDescription: "an extension longer than the body"),
        Body(bytes: [7, 0x80, 0, 0], code: .unsupportedExtension, testDescription: "a critical extension"),
    ]

    @Test(arguments: [MessageType.paused, .resumed], bodies) func bodiesAreChecked(type: MessageType, body: Body) throws
    {
        let folder = try TemporaryDirectory("pause")
        let path = folder.file("socket")
        let consumer = RecordingConsumer()
        let server = try IngestServer(
            listener: try UnixSocket.listen(path: path, mode: 0o600), settings: .init(), clock: MonotonicClock())
        consumer.server = server
        try server.start(host: consumer) { _ in }
        defer {
            server.stop()
            server.join()
        }
        let client = TestClient(try UnixSocket.connect(path: path))
        client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
        #expect(try client.receiveType() == .welcome)
        if type == .resumed { client.send { PlainMessage.paused.encode($0, &$1) } }
        client.send {
            MessageHeader(type: type, bodyBytes: body.bytes.count, sequence: $0).encode(into: &$1)
            $1 += body.bytes
        }
        // The broadcast goes on. A `paused` that is refused hides like a valid one, and a `resumed` that is refused
        // shows nothing.
        client.sendVideo(pts: .zero, [UInt8](repeating: 5, count: 384))
        client.send { PlainMessage.resumed.encode($0, &$1) }
        client.sendVideo(pts: .milliseconds(1), [UInt8](repeating: 6, count: 384))
        client.send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
        // Only now, so that a reply that does not come cannot be waited for.
        if let code = body.code { #expect(try client.receiveErrorCode() == code) }
        #expect(try client.receiveType() == .goodbye)
        let told = consumer.all.filter { $0 == .paused || $0 == .resumed }
        #expect(told == [.paused, .resumed])
        let shown = consumer.all.compactMap { if case .video(let time, _) = $0 { time } else { nil } }
        let resumesAtOnce = type == .resumed && body.code == nil
        #expect(shown == (resumesAtOnce ? [.zero, .milliseconds(1)] : [.milliseconds(1)]))
    }

    /// What is wrong with a message is said during a pause, too; and a picture that says wrongly what of it is to be
    /// hidden is noted, because that may be in the first one after the pause.
    @Test func whatIsRefusedDuringAPauseIsAnswered() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            client.send { PlainMessage.paused.encode($0, &$1) }
            func send(_ type: MessageType, _ body: [UInt8]) {
                client.send {
                    MessageHeader(type: type, bodyBytes: body.count, sequence: $0).encode(into: &$1)
                    $1 += body
                }
            }
            send(.video, [1, 2, 3, 4])
            send(.audioApp, [1, 2, 3, 4])
            send(.paused, [1, 2, 3])
            client.sendVideo(pts: .zero, [UInt8](repeating: 5, count: 384))
            client.send { PlainMessage.resumed.encode($0, &$1) }
            send(.resumed, [1, 2, 3])
            client.send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
            var codes: [ErrorCode?] = []
            // The picture's place is given back as well.
            for _ in 0..<5 {
                if let code = try client.receiveErrorCode() { codes.append(code) }
            }
            #expect(codes == [.malformedBody, .malformedBody, .malformedExtension, .malformedExtension])
            #expect(consumer.wait { if case .ended = $0 { true } else { false } })
            #expect(consumer.all.dropLast() == [.started("t"), .paused, .refusedRegions, .resumed])
        }
    }
}
