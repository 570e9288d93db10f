import Configuration
import ControlProtocol
import TestSupport
import Testing

@testable import Pipeline

/// The commands that operators can use while no broadcast runs.
@Suite struct OperatorCommandsTests {
    private func code(_ command: () throws(CommandRefusal) -> Void) -> CommandRefusal.Code? {
        do {
            try command()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func whatNeedsABroadcastIsRefused() throws {
        let rig = try PartsRig()
        #expect(code { () throws(CommandRefusal) in try rig.operating.stop() } == .noBroadcast)
        #expect(code { () throws(CommandRefusal) in try rig.operating.pause(true) } == .noBroadcast)
        #expect(code { () throws(CommandRefusal) in try rig.operating.requestKeyframe() } == .noBroadcast)
        #expect(code { () throws(CommandRefusal) in _ = try rig.operating.lastSnapshot() } == .snapshotUnavailable)
        #expect(rig.log.lines.isEmpty, "nothing was done")
    }

    @Test func snapshotsCanBeTurnedOff() throws {
        let rig = try PartsRig { $0.control.snapshotSize = 0 }
        let error = try #require(throws: CommandRefusal.self) { try rig.operating.snapshot() }
        #expect(error.code == .snapshotUnavailable && error.sentence.contains("control.snapshot_size"))
    }

    @Test func theCeilingStaysInWhatMemoryWasPlannedFor() throws {
        let rig = try PartsRig { $0.video.bitrate = 2_000_000 }
        let operating = rig.operating
        for bitrate in [VideoConfiguration.leastBitrate - 1, 2_000_001, 0, -1, Int.max] {
            #expect(code { () throws(CommandRefusal) in try operating.setBitrateCeiling(bitrate) } == .badValue)
        }
        #expect(operating.bitrateCeiling == nil && rig.log.lines.isEmpty)
        for bitrate in [VideoConfiguration.leastBitrate, 2_000_000] {
            try operating.setBitrateCeiling(bitrate)
            #expect(operating.bitrateCeiling == bitrate)
        }
        try operating.setBitrateCeiling(nil)
        #expect(operating.bitrateCeiling == nil && operating.configuredBitrate == 2_000_000)
        // Without a ceiling, the bitrate of the reload applies.
        try operating.configureBitrate(1_000_000)
        try operating.setBitrateCeiling(500_000)
        try operating.setBitrateCeiling(nil)
        #expect(operating.bitrateCeiling == 1_000_000 && operating.configuredBitrate == 1_000_000)
    }

    /// Bug: it was accepted, and libavcodec ignored it.
    @Test func anEncoderThatKeepsItsBitrateHasNoOtherCeiling() throws {
        let rig = try PartsRig { $0.video.encoder = "libopenh264" }
        let error = try #require(throws: CommandRefusal.self) { try rig.operating.setBitrateCeiling(500_000) }
        #expect(error.code == .badValue && error.sentence.contains("libopenh264 keeps the bitrate"))
        try rig.operating.setBitrateCeiling(nil)
    }
}
