import Configuration
import ControlProtocol
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Pipeline
@testable import Publishing

/// The status while no broadcast runs.
@Suite struct StatusReporterTests {
    @Test func beforeTheFirstBroadcast() throws {
        let rig = try PartsRig()
        rig.clock.advance(by: .seconds(90))
        let report = rig.status.report
        #expect(report.state == .idle && report.stateMilliseconds == 90_000 && report.uptimeMilliseconds == 90_000)
        #expect(report.broadcasts == 0 && report.client == nil)
        #expect(report.video.width == rig.configuration.video.width && report.video.bitsPerSecond == 0)
        #expect(report.video.targetBitsPerSecond == rig.configuration.video.bitrate)
        #expect(report.destinations.map(\.name) == ["main"])
        #expect(report.destinations.map(\.url) == rig.configuration.destinations.map(\.redactedURL))
        #expect(report.memory.planBytes == rig.configuration.memoryPlan.totalBytes)
        #expect(report.memory.capBytes == 1 << 30 && report.memory.limitBytes == 0)
        #expect(rig.status.statusLine == "idle: waits for a capture client")
    }

    /// After the end, operators can still see why the broadcast ended.
    @Test func afterABroadcast() throws {
        let rig = try PartsRig()
        var snapshot = DestinationSnapshot(
            name: "main", kind: .rtmp, location: "rtmp://elsewhere/live", since: .zero)
        snapshot.state = .failed
        var counted = StatusReport()
        counted.broadcasts = 1
        counted.video.framesEncoded = 300
        rig.ledger.note(ended: counted, [snapshot], hasSentAll: false, drained: nil) {}
        let report = rig.status.report
        #expect(report.destinations.map(\.state) == [.failed])
        // The configured URL, wherever a server has redirected the destination.
        #expect(report.destinations.map(\.url) == rig.configuration.destinations.map(\.redactedURL))
        #expect(report.video.framesEncoded == 0, "the status is of one broadcast")
        #expect(rig.status.totals.video.framesEncoded == 300, "the metrics are of all")
    }

    @Test func memoryIsThatOfTheTightestLimit() throws {
        let rig = try PartsRig(memoryRoom: {
            MemoryRoom(.init(limit: 50_000_000, charged: 30_000_000, files: 9_000_000), of: "memory cgroup /box")
        })
        // 25 MB are needed: charged, without the files that are not code in use.
        #expect(rig.status.statusLine == "idle: waits for a capture client; memory 24 of 47 MiB needed")
        let memory = rig.status.report.memory
        #expect(memory.limit == "memory cgroup /box" && memory.limitBytes == 50_000_000)
        #expect(memory.neededBytes == 25_000_000)
    }

    @Test func theHistoryHasARowASecond() throws {
        let rig = try PartsRig()
        for _ in 0..<3 {
            rig.clock.advance(by: .seconds(1))
            rig.status.noteHistory()
        }
        guard case .object(let members) = rig.status.history.json,
            case .array(let rows)? = members.first(where: { $0.name == "rows" })?.value
        else { throw TestFailure("no rows") }
        #expect(rows.count == 3)
        guard case .array(let row)? = rows.last else { throw TestFailure("no row") }
        #expect(row.first == .integer(3000) && row.dropFirst().allSatisfy { $0 == .integer(0) })
    }
}
