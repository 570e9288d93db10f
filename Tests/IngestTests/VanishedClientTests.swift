import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import Testing

@testable import Ingest

/// Promise: a client that has given up the daemon, which stood still, begins no broadcast.
@Suite(.endsWithin(60)) struct VanishedClientTests {
    /// A session that reads what a client has sent which is gone.
    private func outcome(
        _ consumer: RecordingConsumer, _ messages: (TestClient) -> Void
    ) throws -> IngestSession.Outcome {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        do { messages(TestClient(OwnedDescriptor(ends[0]))) }
        let session = IngestSession(
            socket: OwnedDescriptor(ends[1]), host: consumer, limits: .default, clock: MonotonicClock(),
            closer: DescriptorCloser())
        return session.readable()
    }

    private func start(_ client: TestClient) {
        client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
    }

    @Test func nothingButItsStart() throws {
        let consumer = RecordingConsumer()
        let outcome = try outcome(consumer) { start($0) }
        guard case .over(.clientVanished) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(consumer.all.isEmpty, "\(consumer.all)")
    }

    /// What it has sent is broadcast.
    @Test func aPicture() throws {
        let consumer = RecordingConsumer()
        let picture = [UInt8](repeating: 9, count: 384)
        let outcome = try outcome(consumer) {
            start($0)
            $0.sendVideo(pts: .zero, picture)
        }
        guard case .over(.clientVanished) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(consumer.all == [.started("t"), .video(.zero, picture)], "\(consumer.all)")
    }
}
