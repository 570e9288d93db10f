import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a client that says `paused` or `resumed` wrongly hides more than it meant, and never less.
@Suite struct RefusedPauseTests {
    private static let marker = RawSample(RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1)), format: .i420)
    private static let green = RawSample(RGBImage(width: 320, height: 180, filling: RGB(0, 1, 0)), format: .i420)

    private func holders(_ stage: Stage) throws -> [String] {
        let curtain = (try stage.daemon.status()["privacy"] as? [String: Any])?["curtain"] as? [String: Any]
        return (curtain?["holders"] as? [[String: Any]] ?? []).compactMap { $0["holder"] as? String }
    }

    /// Shows the green picture until the server has it, if need be on another connection.
    private func showAtLast(_ stage: Stage, in playback: Playback) throws {
        try waitFor("a connection", evidence: { stage.daemon.log }) {
            try show(Self.green, for: .milliseconds(200), in: playback)
            let state = try stage.destination()["state"] as? String
            return state == "live" || state == "congested"
        }
        try show(Self.green, for: .milliseconds(500), in: playback)
    }

    private func show(_ sample: RawSample, for time: MediaTime, in playback: Playback) throws {
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(sample, from: .zero, to: time, every: .milliseconds(33))
        try playback.play(timetable)
    }

    @Test(.inItsTurn) func aRefusedPausedHidesAndARefusedResumedLeavesHidden() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: Self.green)
            let client = playback.client
            try client.sendRefused(.paused)
            try waitFor("the curtain", evidence: { stage.daemon.log }) { try holders(stage) == ["client"] }
            try show(Self.marker, for: .milliseconds(300), in: playback)
            try client.sendRefused(.resumed)
            try waitFor("both errors") { client.errors.count == 2 }
            try show(Self.marker, for: .milliseconds(300), in: playback)
            #expect(try holders(stage) == ["client"])
            try client.sendResumed()
            try showAtLast(stage, in: playback)
            #expect(try holders(stage) == [])
            try client.finish()
            #expect(client.errors.map(\.code) == [.unsupportedExtension, .unsupportedExtension])
            try SeenColors(endOf: stage).expectGreenCurtain(then: .green)
        }
    }

    /// With a broadcast delay, nothing from before a refused `paused` has left yet, and nothing of it does.
    @Test(.inItsTurn) func aRefusedPausedTakesBackWhatADelayHolds() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.buffer = ["delay_ms": "2000", "max_bytes": "6MiB"]
            let stage = try Stage(settings)
            let playback = try stage.live(showing: Self.green)
            // Until what was shown before has left.
            try show(Self.green, for: .milliseconds(2200), in: playback)
            try show(Self.marker, for: .seconds(1), in: playback)
            try playback.client.sendRefused(.paused)
            try waitFor("the curtain", evidence: { stage.daemon.log }) { try holders(stage) == ["client"] }
            try show(Self.marker, for: .seconds(1), in: playback)
            try playback.client.sendResumed()
            try showAtLast(stage, in: playback)
            try playback.client.finish()
            try SeenColors(endOf: stage).expectGreenCurtain(then: .green)
        }
    }
}
