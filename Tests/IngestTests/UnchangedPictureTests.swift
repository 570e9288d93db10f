import Ingest
import IngestProtocol
import MediaCore
import Testing

/// A picture that a client says to be the last one: it must be one that was taken.
@Suite struct UnchangedPictureTests {
    private static func format() -> VideoSampleFormat {
        VideoSampleFormat(packed: .i420, width: 16, height: 16)
    }

    private func again(_ client: TestClient, pts: MediaTime) {
        var message = VideoMessage(pts: pts, format: Self.format(), orientation: .up)
        message.isUnchanged = true
        client.send { message.encode(sequence: $0, payloadBytes: 0, into: &$1) }
    }

    @Test func onlyWhatWasTakenIsThereAgain() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            again(client, pts: .milliseconds(1))
            #expect(try client.receiveReleased() == 1)
            #expect(try client.receiveErrorCode() == .unknownPicture)
            client.sendVideo(pts: .milliseconds(2), [UInt8](repeating: 5, count: 384))
            again(client, pts: .milliseconds(3))
            again(client, pts: .milliseconds(4))
            #expect(consumer.wait { $0 == .videoAgain(.milliseconds(4)) })
            #expect(consumer.all.contains(.videoAgain(.milliseconds(3))))
            // Too short: refused, and the one before it is not what the client means either.
            client.sendVideo(pts: .milliseconds(5), [UInt8](repeating: 5, count: 300))
            #expect(try client.receiveErrorCode() == .planeOutsidePayload)
            again(client, pts: .milliseconds(6))
            #expect(try client.receiveReleased() == 6)
            #expect(try client.receiveErrorCode() == .unknownPicture)
        }
    }

    @Test func whatCameDuringAPauseWasNotTaken() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            client.sendVideo(pts: .milliseconds(1), [UInt8](repeating: 5, count: 384))
            client.send { BareMessage.encode(.paused, sequence: $0, into: &$1) }
            client.sendVideo(pts: .milliseconds(2), [UInt8](repeating: 6, count: 384))
            client.send { BareMessage.encode(.resumed, sequence: $0, into: &$1) }
            again(client, pts: .milliseconds(3))
            #expect(try client.receiveReleased() == 5)
            #expect(try client.receiveErrorCode() == .unknownPicture)
            #expect(!consumer.all.contains { if case .videoAgain = $0 { true } else { false } })
        }
    }

    @Test func whatTheDaemonDiscardsWasNotTaken() throws {
        try withServer(RecordingConsumer(discardsVideo: true)) { _, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            client.sendVideo(pts: .milliseconds(1), [UInt8](repeating: 5, count: 384))
            again(client, pts: .milliseconds(2))
            #expect(try client.receiveReleased() == 2)
            #expect(try client.receiveErrorCode() == .unknownPicture)
        }
    }
}
