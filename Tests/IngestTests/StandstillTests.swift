import IngestProtocol
import MediaCore
import TestLimits
import TestSupport
import Testing

/// Promise: a daemon that stood still does not hold that against its client.
@Suite(.endsWithin(60)) struct StandstillTests {
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
