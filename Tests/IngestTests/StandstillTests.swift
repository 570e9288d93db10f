import IngestProtocol
import MediaCore
import TestSupport
import Testing

@testable import Ingest

/// Promise: a daemon that stood still does not hold that against its client.
@Suite(.timeLimit(.minutes(1))) struct StandstillTests {
    @Test func whatIsLost() {
        var standstill = Standstill(now: .seconds(100))
        func wake(_ began: Int64, _ now: Int64, limit: MediaTime?) -> MediaTime {
            standstill.wake(began: .milliseconds(began), now: .milliseconds(now), limit: limit)
        }
        #expect(wake(100_000, 101_000, limit: .seconds(1)) == .zero, "it has waited as long as it wanted")
        #expect(wake(101_020, 101_200, limit: .seconds(1)) == .zero, "something came")
        #expect(wake(101_200, 102_600, limit: .seconds(1)) == .zero, "a little late, as on a busy machine")
        #expect(wake(102_600, 132_600, limit: .seconds(1)) == .seconds(29), "stopped for half a minute")
        #expect(wake(134_600, 134_600, limit: .zero) == .zero, "a client may have made a turn that long")
        #expect(wake(164_600, 164_700, limit: .seconds(1)) == .seconds(30), "stopped while it worked")
        #expect(wake(164_700, 500_000, limit: nil) == .zero, "nobody was late")
        #expect(wake(500_000, 501_000, limit: .seconds(1)) == .zero)
    }

    /// The client is in the middle of a message when the daemon stands still for three times what a message may take.
    @Test func insideAMessage() throws {
        let clock = ManualClock(.seconds(1000))
        try withServer(RecordingConsumer(), messageTimeout: .seconds(10), clock: clock) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            let picture = [UInt8](repeating: 9, count: 384)
            client.sendVideo(pts: .zero, picture, cutTo: 200)
            try waitFor("the daemon to read that") { client.isRead }
            for _ in 0..<3 { clock.advance(by: .seconds(10)) }
            // The first byte wakes it, and is not the rest of the message.
            client.sendRaw(Array(picture[200..<201]))
            client.sendRaw(Array(picture[201...]))
            #expect(consumer.wait { $0 == .video(.zero, picture) }, "\(consumer.all)")
        }
    }
}
