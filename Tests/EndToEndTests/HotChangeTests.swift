import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a reload changes gains, the curtain and tokens at once, and the canvas with the next broadcast. Its answer
/// says which is which.
@Suite struct HotChangeTests {
    private static let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
    private static let tone = Tone(frequency: 440, amplitude: 0.25)

    private func play(_ seconds: Int64, in playback: Playback) throws {
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(NumberedPictures.landscape(1), from: .zero, to: .seconds(seconds))
        timetable.sound(.app, Self.tone, format: Self.format, from: .zero, to: .seconds(seconds))
        try playback.play(timetable)
    }

    private func peak(_ stage: Stage) throws -> Double {
        let audio = try stage.daemon.status()["audio"] as? [String: Any]
        let levels = audio?["levels"] as? [[String: Any]] ?? []
        guard let peak = levels.first?["peak_dbfs"] as? NSNumber else { throw TestFailure("no level: \(levels)") }
        return peak.doubleValue
    }

    @Test(.inItsTurn) func whatChangesWhen() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("hot")
            let port = try Loopback.freePort()
            var settings = DaemonSettings.patient
            settings.control = [
                "listen": "\"127.0.0.1:\(port)\"", "token_file": try folder.write("first-0123456789\n", to: "token"),
            ]
            let stage = try Stage(settings)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try play(3, in: playback)
            #expect(try peak(stage) > -14, "a quarter is -12 dBFS")
            _ = try UnixHTTPClient.ask("POST", "/curtain/up", body: "", socket: stage.daemon.controlSocket)
            let plain = try snapshot(stage)

            var changed = settings
            changed.publish(to: stage.server.url)
            changed.audio["app_gain_db"] = "-40"
            changed.video["width"] = "320"
            changed.video["height"] = "180"
            changed.privacy["curtain_color"] = "\"#ff00ff\""
            _ = try folder.write("second-0123456789\n", to: "token")
            try stage.daemon.rewrite(changed)
            let answer = try ChildProcess.run(
                ProductExecutable.upcastctl.path, ["reload", "--json", "--socket", stage.daemon.controlSocket])
            let report = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any] ?? [:]
            #expect(report["next_broadcast"] as? [String] == ["video.width", "video.height"], "\(answer)")
            #expect((report["need_restart"] as? [String])?.isEmpty == true, "\(answer)")
            for change in ["audio.app_gain_db", "privacy.curtain_color", "control tokens"] {
                #expect((report["applied"] as? [String])?.contains { $0.hasPrefix(change) } == true, "\(answer)")
            }

            // The curtain that is up has the new colour, without a raise.
            try waitFor("the curtain's colour") { try snapshot(stage) != plain }
            _ = try UnixHTTPClient.ask("POST", "/curtain/down", body: "", socket: stage.daemon.controlSocket)
            try play(3, in: playback)
            #expect(try peak(stage) < -45, "40 dB less")
            func status(_ token: String) throws -> Int {
                let headers = ["Authorization": "Bearer \(token)"]
                return try UnixHTTPClient.ask("GET", "/status", port: port, headers: headers).status
            }
            #expect(try status("first-0123456789") == 401)
            #expect(try status("second-0123456789") == 200)
            try playback.client.finish()

            let next = try stage.live(showing: NumberedPictures.landscape(1))
            try play(1, in: next)
            try next.client.finish()
            // The curtain may have broken a connection of the first broadcast.
            let widths = try stage.end(afterCurtains: 1, broadcasts: 2).map { recording in
                try MediaProbe.streams(recording).compactMap(\.width).first
            }
            #expect(widths.last == 320 && widths.dropLast().allSatisfy { $0 == 640 }, "\(widths)")
        }
    }

    private func snapshot(_ stage: Stage) throws -> String {
        let answer = try UnixHTTPClient.get("/snapshot.jpg", socket: stage.daemon.controlSocket)
        guard answer.status == 200 else { throw TestFailure("no snapshot: \(answer.status)") }
        return answer.body
    }
}
