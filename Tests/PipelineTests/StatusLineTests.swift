import ControlProtocol
import Testing

@testable import Pipeline

/// Promise: one line tells an operator what the daemon does.
@Suite struct StatusLineTests {
    private func report(
        _ state: StatusReport.State, _ destinations: [(String, DestinationStatus.State)]
    ) -> StatusReport {
        var report = StatusReport()
        report.state = state
        report.destinations = destinations.map { name, state in
            var status = DestinationStatus()
            status.name = name
            status.state = state
            return status
        }
        report.video.bitsPerSecond = 3_460_000
        report.queue.milliseconds = 47
        return report
    }

    @Test func lines() {
        #expect(report(.idle, [("main", .closed)]).line == "idle: waits for a capture client")
        #expect(report(.starting, [("main", .connecting)]).line == "starting: main not yet reached")
        #expect(report(.live, [("main", .live)]).line == "live: main, 3.5 Mbit/s, queue 40 ms")
        #expect(
            report(.live, [("main", .congested), ("copy", .live), ("backup", .failed)]).line
                == "live: main (congested), copy, 3.5 Mbit/s, queue 40 ms; without backup")
        #expect(report(.paused, [("main", .live)]).line == "paused: main, 3.5 Mbit/s, queue 40 ms")
        #expect(report(.reconnecting, [("main", .reconnecting)]).line == "reconnecting: main")
        #expect(report(.draining, [("main", .live)]).line == "draining: 0 ms to be sent to main")
        #expect(report(.stopping, []).line == "stopping: sending what is queued")
    }
}
