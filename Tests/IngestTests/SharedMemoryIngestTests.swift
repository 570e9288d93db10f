import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import Testing

/// Pictures in shared memory: what a client may do, and what it may try.
@Suite(.endsWithin(60)) struct SharedMemoryIngestTests {
    private static let pictureBytes = 384

    /// Memory with pictures at 4096, 8192 ..., and their words at 0, 64 ....
    private static func memory(slots: Int = 3) throws -> OfferedMemory {
        try OfferedMemory(name: "test", byteCount: 4096 * (slots + 1))
    }

    private static func place(
        _ slot: Int, pool: UInt32 = 1, offset: UInt64? = nil, byteCount: UInt64 = UInt64(pictureBytes),
        guardOffset: UInt64? = nil, generation: UInt64 = 0
    ) -> SharedPayload {
        SharedPayload(
            pool: pool, offset: offset ?? UInt64(4096 * (slot + 1)), byteCount: byteCount,
            guardOffset: guardOffset ?? UInt64(64 * slot), generation: generation)
    }

    private func start(_ connect: () throws -> TestClient) throws -> TestClient {
        let client = try connect()
        client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
        #expect(try client.receiveType() == .welcome)
        return client
    }

    @Test(arguments: [50, 384, 1000]) func aPictureIsTakenAndItsPlaceReleased(bandBytes: Int) throws {
        try withServer(RecordingConsumer(bandBytes: bandBytes)) { consumer, connect in
            let client = try start(connect)
            let memory = try Self.memory()
            try client.share(memory, as: 1)
            for round in 0..<7 {
                let slot = round % 3
                let picture = (0..<Self.pictureBytes).map { UInt8(truncatingIfNeeded: $0 * 7 + round) }
                memory.setWord(at: 64 * slot, to: UInt64(round))
                withExtendedLifetime(memory) {
                    memory.bytes.baseAddress!.advanced(by: 4096 * (slot + 1))
                        .copyMemory(from: picture, byteCount: picture.count)
                }
                let time = MediaTime.milliseconds(Int64(round) * 33)
                let sequence = client.sendVideo(pts: time, in: Self.place(slot, generation: UInt64(round)))
                #expect(try client.receiveReleased() == sequence)
                #expect(consumer.all.last == .video(time, picture))
            }
            // Pictures that follow their message go on as before.
            client.sendVideo(pts: .seconds(1), [UInt8](repeating: 5, count: Self.pictureBytes))
            #expect(consumer.wait { $0 == .video(.seconds(1), [UInt8](repeating: 5, count: Self.pictureBytes)) })
        }
    }

    /// Each is refused with an error, and its place is free again: a broadcast goes on.
    @Test(arguments: [
        place(0, pool: 2), place(0, offset: 16_384), place(0, offset: 16_384 - 383), place(0, offset: .max),
        place(0, byteCount: .max), place(0, byteCount: 83_886_081), place(0, offset: .max - 383),
        place(0, guardOffset: 4), place(0, guardOffset: 16_384), place(0, guardOffset: .max),
        place(0, guardOffset: .max - 7), place(0, guardOffset: 4096), place(0, guardOffset: 4096 + 376),
    ]) func liesAreRefused(_ lie: SharedPayload) throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try start(connect)
            try client.share(Self.memory(), as: 1)
            let sequence = client.sendVideo(pts: .zero, in: lie)
            #expect(try client.receiveReleased() == sequence)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            client.sendVideo(pts: .milliseconds(1), in: Self.place(2))
            #expect(try client.receiveReleased() == sequence + 1)
            #expect(consumer.all.last == .video(.milliseconds(1), [UInt8](repeating: 0, count: Self.pictureBytes)))
        }
    }

    /// What is shorter than the picture needs is refused as a payload would be.
    @Test func aPictureThatDoesNotFitItsPlace() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try start(connect)
            try client.share(Self.memory(), as: 1)
            client.sendVideo(pts: .zero, in: Self.place(0, byteCount: 383))
            #expect(try client.receiveReleased() != nil)
            #expect(try client.receiveErrorCode() == .planeOutsidePayload)
            client.sendVideo(pts: .zero, in: Self.place(0), payloadBytes: 384)
            client.sendRaw([UInt8](repeating: 0, count: 384))
            #expect(try client.receiveErrorCode() == .badSharedMemory)
        }
    }

    @Test func memoryThatIsNotAsItMustBe() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try start(connect)
            let memory = try Self.memory()
            try client.share(memory, as: 1, byteCount: memory.byteCount * 2)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            try client.share(memory, as: 1, byteCount: 1 << 40)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            client.send { SharedMemoryMessage(pool: 1, byteCount: 16_384).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            client.sendVideo(pts: .zero, in: Self.place(0))
            #expect(try client.receiveReleased() != nil)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
        }
    }

    /// Pictures that are meant for memory that was refused are not read from the memory that had its number before.
    @Test func aRefusedReplacementLeavesNothing() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try start(connect)
            let memory = try Self.memory()
            try client.share(memory, as: 1)
            #expect(client.sendVideo(pts: .zero, in: Self.place(0)) == (try client.receiveReleased()))
            try client.share(Self.memory(), as: 1, byteCount: 1 << 40)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            client.sendVideo(pts: .milliseconds(1), in: Self.place(0))
            #expect(try client.receiveReleased() != nil)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            // The number is free again.
            try client.share(memory, as: 1)
            client.sendVideo(pts: .milliseconds(2), in: Self.place(0))
            #expect(try client.receiveReleased() != nil)
            let times = consumer.all.compactMap { if case .video(let time, _) = $0 { time } else { nil } }
            #expect(times == [.zero, .milliseconds(2)])
        }
    }

    /// So is it where the message is refused for an extension: its number stands in front.
    @Test(arguments: [ErrorCode.unsupportedExtension, .malformedExtension])
    func aReplacementWithABadExtensionLeavesNothing(code: ErrorCode) throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try start(connect)
            let memory = try Self.memory()
            try client.share(memory, as: 1)
            #expect(client.sendVideo(pts: .zero, in: Self.place(0)) == (try client.receiveReleased()))
            client.send {
                var bytes: [UInt8] = []
                SharedMemoryMessage(pool: 1, byteCount: 4096).encode(sequence: $0, into: &bytes)
                let body = bytes.dropFirst(MessageHeader.byteCount)
                // A critical extension that nobody knows, or one that is longer than the body.
                let wrong: [UInt8] = code == .unsupportedExtension ? [0x55, 0x80, 0, 0] : [0x55, 0, 9, 0]
                MessageHeader(type: .sharedMemory, bodyBytes: body.count + 4, sequence: $0).encode(into: &$1)
                $1 += body + wrong
            }
            #expect(try client.receiveErrorCode() == code)
            client.sendVideo(pts: .milliseconds(1), in: Self.place(0))
            #expect(try client.receiveReleased() != nil)
            try #require(consumer.all.count == 2, "it was read from the old memory")
            #expect(try client.receiveErrorCode() == .badSharedMemory)
        }
    }

    /// A client that writes on before it may is told, and half of this and half of that is never shown.
    @Test func aPictureThatIsOverwritten() throws {
        let memory = try Self.memory()
        let consumer = RecordingConsumer(bandBytes: 100)
        try withServer(consumer) { consumer, connect in
            let client = try start(connect)
            try client.share(memory, as: 1)
            client.sendVideo(pts: .zero, in: Self.place(0, generation: 1))
            #expect(try client.receiveReleased() != nil)
            #expect(try client.receiveErrorCode() == .sampleOverwritten)
            #expect(consumer.all == [.started("t")], "it had been overwritten before it was looked at")

            nonisolated(unsafe) let shared = memory
            consumer.whileReading = { shared.setWord(at: 0, to: 2) }
            client.sendVideo(pts: .zero, in: Self.place(0, generation: 0))
            #expect(try client.receiveReleased() != nil)
            #expect(try client.receiveErrorCode() == .sampleOverwritten)
            #expect(consumer.all == [.started("t"), .videoCancelled])
        }
    }

    @Test func whatIsSentWhilePausedIsReleasedAndNotShown() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try start(connect)
            client.send { PlainMessage.paused.encode($0, &$1) }
            try client.share(Self.memory(), as: 1)
            let sequence = client.sendVideo(pts: .zero, in: Self.place(0))
            #expect(try client.receiveReleased() == sequence)
            client.send { PlainMessage.resumed.encode($0, &$1) }
            client.sendVideo(pts: .milliseconds(1), in: Self.place(0))
            #expect(try client.receiveReleased() == sequence + 2)
            let pictures = consumer.all.filter { if case .video = $0 { true } else { false } }
            #expect(pictures == [.video(.milliseconds(1), [UInt8](repeating: 0, count: Self.pictureBytes))])
        }
    }

    @Test func aFewMemoriesAtTheSameTime() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try start(connect)
            let memory = try Self.memory()
            for pool in 1...UInt32(IngestLimits.maxSharedPools) { try client.share(memory, as: pool) }
            try client.share(memory, as: 99)
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            // One takes another one's place, or is taken back.
            try client.share(Self.memory(slots: 1), as: 1)
            client.send { SharedMemoryMessage(pool: 2, byteCount: 0).encode(sequence: $0, into: &$1) }
            try client.share(memory, as: 99)
            for (pool, slot, isTaken) in [(UInt32(1), 2, false), (1, 0, true), (2, 0, false), (99, 2, true)] {
                client.sendVideo(pts: .zero, in: Self.place(slot, pool: pool))
                #expect(try client.receiveReleased() != nil)
                if !isTaken { #expect(try client.receiveErrorCode() == .badSharedMemory, "\(pool)") }
            }
        }
    }

    /// Bug that must not be: descriptors of whom nobody takes care add up.
    @Test func descriptorsThatNobodyAskedForAreClosed() throws {
        let memory = try Self.memory()
        try withServer(RecordingConsumer()) { consumer, connect in
            let client = try start(connect)
            // A mapping keeps the memory without a descriptor, so each file behind one is counted by its number.
            func open() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
                        .hasPrefix("/memfd:test") == true
                }
            }
            for round in 0..<1000 {
                var bytes: [UInt8] = []
                client.send { sequence, _ in
                    AnnotatedMessage(key: "k", value: "\(round)").encode(sequence: sequence, into: &bytes)
                }
                try client.sendRaw(bytes, with: memory)
            }
            for _ in 0..<50 { try client.share(memory, as: 1) }
            client.sendVideo(pts: .zero, in: Self.place(0))
            #expect(try client.receiveReleased() != nil)
            let deadline = MonotonicClock().now() + .seconds(30)
            while try open() >= 40, MonotonicClock().now() < deadline { usleep(10_000) }
            #expect(try open() < 40, "of 7,000; other tests have some")
        }
    }
}
