import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: status, metrics and `upcastctl` say what viewers get. A recording beside a dead server is off air, and an
/// outage counts from its beginning.
@Suite struct AirStateTests {
    private func air(_ stage: Stage) throws -> (state: String, since: Int, isRecording: Bool) {
        guard let air = try stage.daemon.status()["air"] as? [String: Any], let state = air["state"] as? String,
            let since = air["since_ms"] as? Int, let isRecording = air["recording"] as? Bool
        else { throw TestFailure("no air state in the status") }
        return (state, since, isRecording)
    }

    private func wait(for state: String, _ stage: Stage) throws {
        try waitFor("\"\(state)\"", evidence: { (try? stage.daemon.statusText()) ?? "no status" }) {
            try air(stage).state == state
        }
        let metrics = try UnixHTTPClient.get("/metrics", socket: stage.daemon.controlSocket).body
        #expect(metrics.contains("upcast_air_state{state=\"\(state)\"} 1\n"))
        #expect(metrics.contains("upcast_on_air \(state == "off_air" ? 0 : 1)\n"))
    }

    private func post(_ stage: Stage, _ path: String) throws {
        let answer = try UnixHTTPClient.ask("POST", path, body: "", socket: stage.daemon.controlSocket)
        #expect(answer.status == 200, "\(answer)")
    }

    @Test(.inItsTurn) func aRecordingBesideADeadServerIsOffAir() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("air")
            var settings = DaemonSettings()
            settings.destinations.append((name: "archive", fields: ["url": "file:" + folder.file("copy.flv")]))
            settings.destinationFields = ["reconnect_longest_ms": "500"]
            let stage = try Stage(settings)
            #expect(try air(stage).state == "idle")
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try wait(for: "on_air", stage)
            try waitFor("the recording") { try air(stage).isRecording }

            try post(stage, "/curtain/up")
            try wait(for: "hidden", stage)
            try post(stage, "/curtain/down")
            try playback.client.send(NumberedPictures.landscape(2), pts: playback.now)
            try wait(for: "on_air", stage)

            try stage.server.kill()
            try wait(for: "off_air", stage)
            let (began, failures) = (MonotonicClock().now(), try stage.failures("connect"))
            // Several attempts later it is still one outage.
            try waitFor("three attempts", evidence: { (try? stage.daemon.statusText()) ?? "no status" }) {
                try stage.failures("connect") >= failures + 3
            }
            let elapsed = Int((MonotonicClock().now() - began).milliseconds)
            let outage = try air(stage)
            #expect(outage.state == "off_air" && outage.isRecording && outage.since >= elapsed)
            #expect(try stage.destination()["down_ms"] as? Int ?? 0 >= elapsed)
            let text = try ChildProcess.run(
                ProductExecutable.upcastctl.path, ["status", "--socket", stage.daemon.controlSocket])
            let first = text.split(separator: "\n").first.map(String.init) ?? ""
            #expect(first.contains("off air for") && first.contains("recording"), "\(text)")

            try stage.server.restart()
            try wait(for: "on_air", stage)
            #expect(try stage.destination()["down_ms"] as? Int == 0)
            try playback.client.finish()
            try stage.end()
        }
    }
}
