import MediaCore
import SeededRandom
import TestSupport
import Testing

/// Promise: where the processor is short, the picture gets a little worse before frames are lost.
@Suite struct EffortTests {
    /// Noise comes faster than one thread encodes it.
    @Test(.inItsTurn) func theEffortGoesDownOnALiveBroadcast() async throws {
        try await blocking {
            var settings = DaemonSettings(width: 1920, height: 1080, bitrateKilobits: 20_000)
            settings.video["effort"] = "high"
            settings.video["adaptive_effort"] = "true"
            settings.video["frame_rate"] = "120"
            settings.buffer = ["max_bytes": "\(8 << 20)"]
            settings.memory = ["cap_bytes": "\(200 << 20)"]
            let stage = try Stage(settings)
            let pictures = [1, 2].map { Self.noise(seed: $0) }
            let playback = try stage.live(showing: pictures[0])
            func video() throws -> [String: Any] { try stage.daemon.status()["video"] as? [String: Any] ?? [:] }
            #expect(try video()["configured_effort"] as? String == "high")
            var sent = 0
            try waitFor("the lowest effort", within: 60, evidence: { (try? stage.daemon.statusText()) ?? "" }) {
                for _ in 0..<20 {
                    try playback.client.send(pictures[sent % 2], pts: playback.now)
                    sent += 1
                }
                return try video()["effort"] as? String == "low" ? () : nil
            }
            // The log is written by another thread than the status.
            try waitFor("the log to tell it", evidence: { stage.daemon.log }) {
                stage.daemon.log.contains("encoder effort lowered")
            }
            _ = try playback.client.finish()
            try stage.checkRecording(stage.server.finishedRecording())
            try stage.end()
        }
    }

    private static func noise(seed: UInt64) -> RawSample {
        var random = SplitMix64(seed: seed)
        let (width, height) = (1920, 1080)
        var format = VideoSampleFormat(
            packed: .nv12VideoRange, width: width, height: height,
            color: ColorDescription(matrix: .bt709, range: .video))
        format.setPlane(0, PlaneLocation(offset: 0, stride: width))
        format.setPlane(1, PlaneLocation(offset: width * height, stride: width))
        var payload = [UInt8](repeating: 128, count: width * height * 3 / 2)
        for index in 0..<width * height { payload[index] = UInt8.random(in: 16...235, using: &random) }
        return RawSample(format: format, payload: payload)
    }
}
