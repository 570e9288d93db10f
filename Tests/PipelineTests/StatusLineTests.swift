import ControlProtocol
import Testing

@testable import Pipeline

/// Promise: one line tells an operator what viewers get, and never calls a recording "on air".
@Suite struct StatusLineTests {
    private func report(
        _ air: AirState, _ destinations: [(String, DestinationStatus.State)], files: [String] = [],
        state: StatusReport.State = .live
    ) -> StatusReport {
        var report = StatusReport()
        report.state = state
        report.air.state = air
        report.destinations = destinations.map { name, state in
            var status = DestinationStatus()
            status.name = name
            status.state = state
            status.kind = files.contains(name) ? .file : .rtmp
            return status
        }
        report.video.bitsPerSecond = 3_460_000
        report.queue.milliseconds = 47
        return report
    }

    @Test func whatViewersGet() {
        #expect(report(.idle, [("main", .closed)], state: .idle).line == "idle: waits for a capture client")
        #expect(report(.offAir, [("main", .connecting)], state: .starting).line == "off air: main not reached")
        #expect(report(.onAir, [("main", .live)]).line == "on air: main, 3.5 Mbit/s, queue 40 ms")
        #expect(
            report(.impaired, [("main", .congested), ("copy", .live), ("backup", .failed)]).line
                == "impaired: main (congested), copy, 3.5 Mbit/s, queue 40 ms; without backup")
        #expect(
            report(.onAir, [("main", .live)], state: .paused).line
                == "on air: main, 3.5 Mbit/s, queue 40 ms, paused")
        #expect(report(.hidden, [("main", .live)]).line == "hidden: main, 3.5 Mbit/s, queue 40 ms")
        #expect(report(.onAir, [("main", .live)], state: .draining).line == "draining: 0 ms to be sent to main")
        #expect(report(.idle, [], state: .stopping).line == "stopping: sending what is queued")
    }

    /// Beside systemd's own figure, which counts file pages as well.
    @Test func theMemoryThatIsNeeded() {
        var report = report(.idle, [], state: .idle)
        (report.memory.neededBytes, report.memory.limitBytes) = (17_000_000, 52_428_800)
        #expect(report.line == "idle: waits for a capture client; memory 17 of 50 MiB needed")
        report.memory.residentBytes = 52_000_000
        #expect(report.line.hasSuffix("memory 17 of 50 MiB needed"))
    }

    @Test func recordingsStandBeside() {
        let both = [("main", DestinationStatus.State.reconnecting), ("archive", .live)]
        #expect(report(.offAir, both, files: ["archive"]).line == "off air: main not reached; recording archive")
        #expect(
            report(.offAir, [("archive", .live)], files: ["archive"]).line
                == "off air: no RTMP destination; recording archive")
        #expect(
            report(.onAir, [("main", .live), ("archive", .live)], files: ["archive"]).line
                == "on air: main, 3.5 Mbit/s, queue 40 ms; recording archive")
    }
}
