import Buffering
import Configuration
import ControlProtocol
import Encoding
import Ingest
import LinuxSystem
import Logging
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// A whole broadcast that runs out of memory, and then has enough again.
@Suite(.endsWithin(120)) struct HostMemoryTests {
    @Test func everyStepIsTakenAndTakenBack() throws {
        let left = Monitor(10_000_000)
        let limit = 50_000_000
        let rig = try HostRig({ configuration in
            configuration.buffer.delay = .seconds(4)
            configuration.buffer.maxBytes = 8 << 20
            configuration.memory.capBytes = 1 << 30
        }) {
            MemoryRoom(.init(limit: limit, charged: limit - left.withLock { $0 }, files: 0), of: "memory cgroup /box")
        }
        try rig.start()
        let broadcast = try rig.broadcast
        rig.host.watchMemory()
        #expect(rig.host.status.report.memory.givenUp.isEmpty)

        left.withLock { $0 = 100_000 }
        for _ in 0..<10 { rig.host.watchMemory() }
        let short = rig.host.status.report.memory
        let steps = ["half_log", "least_log", "two_pictures", "one_thread", "no_subpixel_motion"]
        #expect(short.givenUp.map(\.name) == steps && short.bitrateLossPercent > 0)
        #expect(short.stepsDown == 5 && short.limit == "memory cgroup /box" && short.limitBytes == limit)
        #expect(short.neededBytes == limit - 100_000)
        #expect(broadcast.log.limits.maxBytes == broadcast.savings.leastLog.maxBytes)
        #expect(broadcast.log.limits.maxDelay == .zero)
        #expect(broadcast.slot.pictureCount == 2)
        let warnings = rig.log.lines.filter { $0.message == "memory is short" }
        #expect(warnings.count == 5 && warnings.allSatisfy { $0.level == .warning })
        #expect(warnings.first?.metadata["limit"] == "memory cgroup /box")

        left.withLock { $0 = 30_000_000 }
        for _ in 0..<10 {
            rig.host.watchMemory()
            rig.clock.advance(by: .seconds(31))
            rig.host.watchMemory()
        }
        #expect(rig.host.status.report.memory.givenUp.isEmpty && rig.host.status.report.memory.stepsUp == 5)
        #expect(broadcast.log.limits.maxBytes == 8 << 20 && broadcast.log.limits.maxDelay == .seconds(4))
        #expect(broadcast.slot.pictureCount == 3)
        #expect(rig.log.lines.filter { $0.message == "memory is sufficient again" }.count == 5)
        rig.host.ended(.daemonStopping)
        _ = rig.host.shutDown()
    }

    /// The steps in numbers. The log never shrinks below the size that a jump to a keyframe needs, and the delay is
    /// given up before that.
    @Test func whatCanBeSaved() {
        var configuration = Configuration()
        configuration.video.bitrate = 3_872_000
        configuration.audio.bitrate = 128_000  // with it 500,000 bytes a second
        configuration.video.vbv = .seconds(1)
        configuration.buffer.dropToKeyframe = .seconds(1)
        configuration.buffer.delay = .seconds(6)
        configuration.buffer.maxBytes = 5_000_000
        let savings = MemorySavings(configuration)
        #expect(savings.leastLog == .init(maxBytes: 1_000_000, maxDelay: .zero))
        #expect(savings.halfLog == .init(maxBytes: 2_500_000, maxDelay: .seconds(3)))
        #expect(savings.encoderBytes[.oneThread] == 400_000)
        #expect(savings.encoderBytes[.noSubpixelMotion] ?? 0 > 6_000_000)
        configuration.video.threads = 1
        #expect(MemorySavings(configuration).encoderBytes[.oneThread] == nil)
        configuration.memory.capBytes = 46 << 20
        #expect(MemorySavings(configuration).encoderBytes.isEmpty, "it begins without subpixel motion")
        configuration.buffer.maxBytes = 900_000
        #expect(MemorySavings(configuration).steps.prefix(2).allSatisfy { $0.savedBytes == 0 })
    }
}
