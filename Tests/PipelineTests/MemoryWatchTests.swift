import Buffering
import Configuration
import LinuxSystem
import Logging
import MediaCore
import TestSupport
import Testing

@testable import Pipeline

/// Promise: a broadcast gives up one part at a time while memory is short, and the log says which and if it worked.
@Suite struct MemoryWatchTests {
    private static let limit = 50_000_000

    @Test func oneStepAtATime() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("memory")
            let broadcast = try Broadcast(recordingIn: folder) { $0.memory.capBytes = 1 << 30 }
            defer { _ = broadcast.close(deadline: MonotonicClock().now()) }
            let (left, clock, log) = (Monitor<Int?>(nil), ManualClock(.seconds(1000)), LogRecorder())
            let watch = MemoryWatch(
                broadcast,
                room: {
                    left.withLock { $0 }.map {
                        MemoryRoom(
                            .init(limit: Self.limit, charged: Self.limit - $0, files: 0), of: "memory cgroup /box")
                    }
                },
                clock: clock, logger: Logger(label: "test") { _ in log })
            let whole = broadcast.log.limits
            watch.look()
            left.withLock { $0 = 30_000_000 }
            watch.look()
            #expect(watch.governor.current.isEmpty && log.lines.isEmpty, "unknown, and enough")

            left.withLock { $0 = 100_000 }
            watch.look()
            #expect(watch.governor.current.map(\.step) == [.halfLog])
            #expect(broadcast.log.limits.maxBytes == broadcast.savings.halfLog.maxBytes)
            watch.look()
            #expect(watch.governor.current.map(\.step) == [.halfLog, .leastLog])
            #expect(broadcast.log.limits.maxBytes == broadcast.savings.leastLog.maxBytes)
            #expect(log.lines.map(\.message) == ["memory is short", "memory is short"])
            let first = try #require(log.lines.first?.metadata)
            #expect(first["step"] == "half_log" && first["left_bytes"] == "100000" && first["failed"] == nil)

            left.withLock { $0 = 30_000_000 }
            watch.look()
            #expect(watch.governor.current.count == 2, "it has to last")
            clock.advance(by: .seconds(31))
            watch.look()
            #expect(watch.governor.current.map(\.step) == [.halfLog])
            #expect(log.lines.last?.message == "memory is sufficient again")
            #expect(log.lines.last?.metadata["step"] == "least_log")
            clock.advance(by: .seconds(31))
            watch.look()
            clock.advance(by: .seconds(31))
            watch.look()
            #expect(broadcast.log.limits.maxBytes == whole.maxBytes)
        }
    }
}
