import Foundation
import Ingest
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import Testing

@Suite(.endsWithin(60)) struct IngestServerTests {
    // MARK: A broadcast

    @Test func everythingArrivesWhole() throws {
        try withServer(RecordingConsumer(bandBytes: 97)) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "tester", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            let picture = (0..<384).map { UInt8(truncatingIfNeeded: $0 * 7) }
            client.sendVideo(pts: .milliseconds(33), picture)
            let pcm = (0..<4096).map { UInt8(truncatingIfNeeded: $0 * 3) }
            client.sendAudio(.app, pts: .milliseconds(40), pcm)
            client.send { PlainMessage.paused.encode($0, &$1) }
            client.sendVideo(pts: .milliseconds(66), picture)
            client.send { PlainMessage.resumed.encode($0, &$1) }
            client.sendAudio(.microphone, pts: .milliseconds(50), pcm)
            client.send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .goodbye)
            #expect(try client.receiveType() == nil)
            #expect(
                consumer.all == [
                    .started("tester"), .video(.milliseconds(33), picture), .audio(.app, .milliseconds(40), pcm),
                    .paused, .resumed, .audio(.microphone, .milliseconds(50), pcm),
                    .ended(.finished(FinishedMessage(reason: .sourceEnded))),
                ])
        }
    }

    /// Whatever pieces the kernel cuts the stream into, the result is the same.
    @Test(arguments: [1, 2, 15, 16, 17, 63, 1000]) func anyFragmentation(piece: Int) throws {
        try withServer(RecordingConsumer(bandBytes: 50, gap: 13)) { consumer, connect in
            let client = try connect()
            let picture = (0..<384).map { UInt8(truncatingIfNeeded: $0) }
            client.send(inPiecesOf: piece) {
                StartedMessage(clientName: "t", convention: .replayKit).encode(sequence: $0, into: &$1)
            }
            client.sendVideo(pts: .zero, picture, inPiecesOf: piece)
            client.sendVideo(pts: .milliseconds(1), picture, inPiecesOf: piece)
            client.send(inPiecesOf: piece) { FinishedMessage(reason: .userStopped).encode(sequence: $0, into: &$1) }
            #expect(consumer.wait { if case .ended = $0 { true } else { false } })
            let frames = consumer.all.filter { if case .video = $0 { true } else { false } }
            #expect(frames == [.video(.zero, Array(picture[13...])), .video(.milliseconds(1), Array(picture[13...]))])
        }
    }

    @Test func discardedVideoIsSkippedWhole() throws {
        try withServer(RecordingConsumer(discardsVideo: true)) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            client.sendVideo(pts: .zero, [UInt8](repeating: 9, count: 384))
            client.sendAudio(.app, pts: .zero, [UInt8](repeating: 1, count: 8))
            #expect(consumer.wait { if case .audio = $0 { true } else { false } })
        }
    }

    // MARK: Clients that go wrong

    @Test func vanishingMidFrameCancelsAndTheNextClientIsServed() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            do {
                let client = try connect()
                client.send { StartedMessage(clientName: "first", convention: .exif).encode(sequence: $0, into: &$1) }
                #expect(try client.receiveType() == .welcome)
                client.sendVideo(pts: .zero, [UInt8](repeating: 9, count: 384), cutTo: 200)
            }
            #expect(consumer.wait { $0 == .ended(.clientVanished) })
            #expect(consumer.all.contains(.videoCancelled))
            let next = try connect()
            next.send { StartedMessage(clientName: "second", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try next.receiveType() == .welcome)
        }
    }

    @Test func secondClientIsToldBusy() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "first", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            let second = try connect()
            #expect(try second.receiveErrorCode() == .busy)
            #expect(try second.receiveType() == nil)
            // The first one is not disturbed.
            client.send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .goodbye)
        }
    }

    @Test func garbageIsAnsweredAndDisconnected() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.sendRaw([UInt8](repeating: 0x41, count: 64))
            #expect(try client.receiveErrorCode() == .badMagic)
            #expect(try client.receiveType() == nil)
            #expect(consumer.all.isEmpty)
        }
    }

    @Test func videoBeforeStarted() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.sendVideo(pts: .zero, [UInt8](repeating: 0, count: 384))
            #expect(try client.receiveErrorCode() == .unexpectedMessage)
            #expect(consumer.all.isEmpty)
        }
    }

    /// A sample that is refused costs only itself.
    @Test func badSampleIsSkipped() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            // 16x16 I420 needs 384 bytes.
            client.sendVideo(pts: .zero, [UInt8](repeating: 0, count: 300))
            #expect(try client.receiveErrorCode() == .planeOutsidePayload)
            client.sendVideo(pts: .milliseconds(1), [UInt8](repeating: 5, count: 384))
            #expect(consumer.wait { $0 == .video(.milliseconds(1), [UInt8](repeating: 5, count: 384)) })
        }
    }

    @Test func silentClientIsShownTheDoor() throws {
        try withServer(RecordingConsumer(), startTimeout: .milliseconds(20)) { _, connect in
            let client = try connect()
            #expect(try client.receiveErrorCode() == .timedOut)
            #expect(try client.receiveType() == nil)
        }
    }

    /// A client that stops inside a message would hold the daemon, and everybody else would be told busy.
    @Test func stallingInsideAMessageEndsTheBroadcast() throws {
        try withServer(RecordingConsumer(), messageTimeout: .milliseconds(20)) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            client.sendVideo(pts: .zero, [UInt8](repeating: 9, count: 384), cutTo: 200)
            #expect(try client.receiveErrorCode() == .timedOut)
            #expect(consumer.wait { $0 == .ended(.protocolError) })
            #expect(consumer.all.contains(.videoCancelled))
        }
    }

    @Test func aLimitOfSilenceCanBeSet() throws {
        try withServer(RecordingConsumer(), idleTimeout: .milliseconds(20)) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            #expect(try client.receiveErrorCode() == .timedOut)
            #expect(consumer.wait { $0 == .ended(.protocolError) })
        }
    }

    @Test func stopEndsALiveBroadcastWithAGoodbye() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            consumer.server?.stop()
            #expect(try client.receiveType() == .goodbye)
            #expect(consumer.all.last == .ended(.daemonStopping))
        }
    }

    @Test func aFailedBroadcastIsToldAndEnded() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            consumer.server?.fail("the encoder caught fire")
            #expect(try client.receiveErrorCode() == .broadcastFailed)
            #expect(consumer.wait { $0 == .ended(.failed("the encoder caught fire")) })
        }
    }

    /// Without a free descriptor `accept` fails, and the listener stays readable: trying at once for ever would take a
    /// core, and a log line each time would fill a disk.
    @Test func aClientThatCannotBeAcceptedIsTriedAgainLater() throws {
        struct Tries {
            var failed = 0
            var mayAccept = false
            var lines: [String] = []
        }
        let tries = Monitor(Tries())
        let clock = MonotonicClock()
        let begin = clock.now()
        try withServer(
            RecordingConsumer(),
            accept: { listener throws(Errno) in
                let accepts = tries.signal { tries in
                    if !tries.mayAccept { tries.failed += 1 }
                    return tries.mayAccept
                }
                guard accepts else { throw Errno(EMFILE) }
                return try UnixSocket.accept(listener)
            }, log: { line in tries.withLock { $0.lines.append(line) } }
        ) { _, connect in
            let client = try connect()
            let failed = tries.wait(until: begin + .seconds(20)) { $0.failed >= 4 ? $0.failed : nil }
            #expect(failed != nil && clock.now() - begin >= Self.acceptRetry * 3)
            tries.withLock { $0.mayAccept = true }
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            let lines = tries.withLock { $0.lines }
            #expect(lines.count == 1 && lines[0].contains("Too many open files"), "\(lines)")
        }
    }

    /// Counters are only nice to know: a client that does not read gets few of them, so that they never take the room
    /// of an error or a goodbye.
    @Test func countersStopForAClientThatDoesNotRead() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(consumer.wait { $0 == .started("t") })
            for second in 1...100 {
                consumer.server?.notify(
                    CountersMessage(framesTaken: UInt64(second), framesDropped: 3, audioSamples: 4))
                // One after the other, so that they are looked at again and again; only the newest counts each time.
                client.send { AnnotatedMessage(key: "\(second)", value: "").encode(sequence: $0, into: &$1) }
                #expect(consumer.wait { $0 == .annotated("\(second)") })
            }
            #expect(try client.receiveType() == .welcome)
            client.send { FinishedMessage(reason: .userStopped).encode(sequence: $0, into: &$1) }
            var told: [CountersMessage] = []
            while let counters = try client.receiveCounters() { told.append(counters) }
            #expect(told.first?.framesDropped == 3 && told.first?.audioSamples == 4)
            #expect(told.count < 50, "\(told.count)")
            #expect(consumer.wait { if case .ended = $0 { true } else { false } })
        }
    }

    // MARK: Infrastructure

    private static let acceptRetry = MediaTime.milliseconds(20)
}
