import Ingest
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

/// No client keeps the ingest thread from everything else: a turn ends after so many bytes, and after so much time.
@Suite(.endsWithin(60)) struct TurnTests {
    private static let pictureBytes = 384

    private static func place() -> SharedPayload {
        SharedPayload(
            pool: 1, offset: 4096, byteCount: UInt64(pictureBytes), guardOffset: 0, generation: 0)
    }

    private func start(_ connect: () throws -> TestClient) throws -> TestClient {
        let client = try connect()
        client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
        #expect(try client.receiveType() == .welcome)
        try client.share(OfferedMemory(name: "test", byteCount: 8192), as: 1)
        return client
    }

    /// An operator ends a broadcast while a picture in shared memory is converted that takes for ever.
    @Test func aTurnEndsWithinAPicture() throws {
        let clock = ManualClock(.seconds(1000))
        let consumer = RecordingConsumer(bandBytes: 1)
        try withServer(consumer, clock: clock) { consumer, connect in
            let client = try start(connect)
            let bands = Monitor(0)
            consumer.whileReading = { [weak consumer] in
                clock.advance(by: .milliseconds(10))
                let count = bands.withLock { bands in
                    bands += 1
                    return bands
                }
                if count == 1 { consumer?.server?.endByOperator() }
            }
            let sequence = client.sendVideo(pts: .zero, in: Self.place())
            #expect(consumer.wait { $0 == .ended(.endedByOperator) })
            let longest = bands.withLock { MediaTime.milliseconds(10 * Int64($0)) }
            #expect(longest <= .milliseconds(50))
            #expect(consumer.all == [.started("t"), .videoCancelled, .ended(.endedByOperator)])
            #expect(try client.receiveReleased() == sequence)
            #expect(try client.receiveType() == .goodbye)
        }
    }

    /// A picture that takes several turns is whole, and its place is released once.
    @Test func aPictureOfManyTurnsIsWhole() throws {
        let clock = ManualClock(.seconds(1000))
        try withServer(RecordingConsumer(bandBytes: 7), clock: clock) { consumer, connect in
            let client = try start(connect)
            consumer.whileReading = { clock.advance(by: .milliseconds(10)) }
            for round in 0..<3 {
                let time = MediaTime.milliseconds(Int64(round))
                let sequence = client.sendVideo(pts: time, in: Self.place())
                #expect(try client.receiveReleased() == sequence)
                #expect(consumer.all.last == .video(time, [UInt8](repeating: 0, count: Self.pictureBytes)))
            }
        }
    }

    /// Bytes in shared memory count as those that are received, though their messages are short.
    @Test func sharedPicturesSpendATurn() throws {
        let (clock, pictureBytes) = (ManualClock(.seconds(1000)), 1 << 20)
        try withServer(RecordingConsumer(bandBytes: 1 << 17), clock: clock) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            try client.share(OfferedMemory(name: "test", byteCount: 2 * pictureBytes), as: 1)
            let bands = Monitor(0)
            consumer.whileReading = { [weak consumer] in
                let count = bands.withLock { bands in
                    bands += 1
                    return bands
                }
                if count == 1 { consumer?.server?.endByOperator() }
            }
            let place = SharedPayload(
                pool: 1, offset: 4096, byteCount: UInt64(pictureBytes), guardOffset: 0, generation: 0)
            // All of them are there before the first is looked at.
            client.sendTogether(count: 50) { index, sequence, bytes in
                VideoMessage(
                    pts: .milliseconds(Int64(index)),
                    format: VideoSampleFormat(packed: .bgra, width: 512, height: 512), orientationRaw: 1,
                    shared: place
                ).encode(sequence: sequence, payloadBytes: 0, into: &bytes)
            }
            #expect(consumer.wait { $0 == .ended(.endedByOperator) })
            let pictures = consumer.all.count { if case .video = $0 { true } else { false } }
            #expect(pictures <= 6, "\(pictures) MiB in one turn")
        }
    }

    /// A client that never stops sending, and never ends its message, keeps no other out for ever.
    @Test func aMessageMustEnd() throws {
        let clock = ManualClock(.seconds(1000))
        let consumer = RecordingConsumer(bandBytes: 1)
        let bytes = Monitor(0)
        consumer.whileReceiving = {
            bytes.withLock { $0 += 1 }
            clock.advance(by: .seconds(2))
        }
        try withServer(consumer, clock: clock) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            client.sendVideo(pts: .zero, [UInt8](repeating: 5, count: Self.pictureBytes))
            #expect(try client.receiveErrorCode() == .timedOut)
            #expect(consumer.wait { $0 == .ended(.protocolError) })
            #expect(bytes.withLock { $0 } <= 7)
        }
    }

    /// A large message has longer: a second for each MiB.
    @Test func aLargeMessageHasTime() throws {
        let (clock, bandBytes) = (ManualClock(.seconds(1000)), 128 << 10)
        let consumer = RecordingConsumer(bandBytes: bandBytes)
        consumer.whileReceiving = { clock.advance(by: .milliseconds(200)) }
        try withServer(consumer, clock: clock) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            // 16 MiB in 26 s.
            let message = VideoMessage(
                pts: .zero, format: VideoSampleFormat(packed: .bgra, width: 2048, height: 2048), orientationRaw: 1)
            client.send { message.encode(sequence: $0, payloadBytes: 16 << 20, into: &$1) }
            client.sendRaw([UInt8](repeating: 5, count: 16 << 20))
            #expect(consumer.wait { if case .video = $0 { true } else { false } })
        }
    }
}
