import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Ingest

/// A client that does not read its replies: the daemon does not grow, the client sees no gap in the numbers of what it
/// gets in the end, and the last thing it gets is the goodbye.
@Suite(.endsWithin(60)) struct SlowReaderTests {
    @Test func aDroppedMessageTakesNoNumber() throws {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let client = OwnedDescriptor(ends[0])
        let session = IngestSession(
            socket: OwnedDescriptor(ends[1]), host: RecordingConsumer(), limits: .default, clock: MonotonicClock(),
            closer: DescriptorCloser())
        // Twice: what follows the loss, too, must carry on where the client is.
        for _ in 0..<2 {
            for _ in 0..<100 { session.enqueue { news.encode(sequence: $0, into: &$1) } }
            #expect(session.flush())
        }
        let numbers = try messages(in: receivedSoFar(client.raw)).map(\.sequence)
        #expect(numbers.count > 20 && numbers.count < 200, "of 200 kB about 64 KiB are to arrive: \(numbers.count)")
        #expect(numbers == Array(0..<UInt32(numbers.count)))
    }

    /// However full it is: an error that ends the broadcast, and the goodbye, are not lost.
    @Test func forTheLastWordsThereIsRoom() throws {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let client = OwnedDescriptor(ends[0])
        let session = IngestSession(
            socket: OwnedDescriptor(ends[1]), host: RecordingConsumer(), limits: .default, clock: MonotonicClock(),
            closer: DescriptorCloser())
        // Until the socket takes no more, either; then shorter news where longer ones have no room.
        for _ in 0..<1000 {
            session.enqueue { news.encode(sequence: $0, into: &$1) }
            #expect(session.flush())
        }
        for _ in 0..<100 { session.enqueue { StateMessage(.live, text: "").encode(sequence: $0, into: &$1) } }
        let text = String(repeating: "y", count: 1024)
        session.sendError(ProtocolError(.broadcastFailed, fatal: true, text))
        let goodbye = GoodbyeMessage(.failed, text: text, framesTaken: 1, framesDropped: 2, audioSamples: 3)
        session.enqueue(isLast: true) { goodbye.encode(sequence: $0, into: &$1) }

        var bytes: [UInt8] = []
        while !session.outbox.isEmpty {
            bytes += receivedSoFar(client.raw)
            #expect(session.flush())
        }
        let replies = try messages(in: bytes + receivedSoFar(client.raw))
        #expect(replies.count < 1000, "nothing was dropped, so this test shows nothing")
        #expect(replies.suffix(2).map(\.type) == [.error, .goodbye])
        #expect(replies.map(\.sequence) == Array(0..<UInt32(replies.count)))
    }

    @Test func theGoodbyeComesLast() throws {
        let folder = try TemporaryDirectory("slow")
        let path = folder.file("socket")
        let consumer = RecordingConsumer()
        let server = try IngestServer(
            listener: try UnixSocket.listen(path: path, mode: 0o600), settings: .init(lingerTimeout: .seconds(30)),
            clock: MonotonicClock())
        consumer.server = server
        try server.start(host: consumer) { _ in }
        defer {
            server.stop()
            server.join()
        }
        let socket = try UnixSocket.connect(path: path)
        var sequence: UInt32 = 0
        func send(_ encode: (UInt32, inout [UInt8]) -> Void) {
            var bytes: [UInt8] = []
            encode(sequence, &bytes)
            sequence += 1
            _ = Glibc.send(socket.raw, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        }
        send { StartedMessage(clientName: "slow", convention: .exif).encode(sequence: $0, into: &$1) }
        // Annotations without a body are answered with an error each, far more than the socket and the outbox hold.
        for batch in 0..<50 {
            for _ in 0..<200 {
                send { MessageHeader(type: .annotated, bodyBytes: 0, sequence: $0).encode(into: &$1) }
            }
            send { AnnotatedMessage(key: "batch \(batch)", value: "").encode(sequence: $0, into: &$1) }
            #expect(consumer.wait { $0 == .annotated("batch \(batch)") })
        }
        send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
        #expect(consumer.wait { $0 == .ended(.finished(FinishedMessage(reason: .sourceEnded))) })

        let replies = try messages(in: receivedToTheEnd(socket.raw))
        #expect(replies.first?.type == .welcome)
        #expect(replies.last?.type == .goodbye)
        #expect(replies.count < 10_000, "nothing was dropped, so this test shows nothing")
        #expect(replies.map(\.sequence) == Array(0..<UInt32(replies.count)))
    }

    private let news = StateMessage(.congested, value: 1, text: String(repeating: "x", count: 1000))

    private func messages(in bytes: [UInt8]) throws -> [MessageHeader] {
        var headers: [MessageHeader] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let header = try MessageHeader.decode(Array(rest.prefix(16)).span.bytes, limits: .default)
            headers.append(header)
            let size = MessageHeader.byteCount + header.bodyBytes
            try #require(rest.count >= size, "the last message is cut off")
            rest = rest.dropFirst(size)
        }
        return headers
    }

    private func receivedSoFar(_ socket: CInt) -> [UInt8] { received(socket, flags: CInt(MSG_DONTWAIT)) }
    private func receivedToTheEnd(_ socket: CInt) -> [UInt8] { received(socket, flags: 0) }

    private func received(_ socket: CInt, flags: CInt) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &buffer, buffer.count, flags)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
