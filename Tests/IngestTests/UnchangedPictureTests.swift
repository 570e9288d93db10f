import Ingest
import IngestProtocol
import LinuxSystem
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

    /// Damage counts only where the picture that it names is the last one that was taken whole.
    @Test func damageIsThatOfThePictureBefore() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            let payload = [UInt8](repeating: 5, count: 384)
            func send(_ pts: Int64, since: UInt32, cutTo: Int = 384) {
                var message = VideoMessage(pts: .milliseconds(pts), format: Self.format(), orientation: .up)
                var damage = PictureDamage()
                _ = damage.add(.init(x: 0, y: 0, width: 16, height: 2))
                message.damage = DamageField(since: since, damage: damage)
                client.send { message.encode(sequence: $0, payloadBytes: cutTo, into: &$1) }
                client.sendRaw(Array(payload.prefix(cutTo)))
            }
            send(1, since: 0)  // started: no picture
            send(2, since: 1)  // 2: the one before
            send(3, since: 1)  // 3: the one before that
            again(client, pts: .milliseconds(4))  // 4
            send(5, since: 3)  // 5: nothing has changed since
            send(6, since: 4)  // 6: no picture
            send(7, since: 6, cutTo: 300)  // 7: refused
            send(8, since: 7)  // 8
            send(9, since: 8)  // 9
            client.send { BareMessage.encode(.paused, sequence: $0, into: &$1) }
            send(10, since: 9)  // 11: thrown away
            client.send { BareMessage.encode(.resumed, sequence: $0, into: &$1) }
            send(11, since: 9)  // 13
            #expect(consumer.wait { if case .video(.milliseconds(11), _) = $0 { true } else { false } })
            let counted = consumer.damages.withLock { $0.map { $0?.since } }
            #expect(counted == [nil, 1, nil, 3, nil, nil, 8, nil])
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
