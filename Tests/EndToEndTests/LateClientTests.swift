import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a client whose frames come late from some moment on, by more than the daemon waits before it repeats a
/// picture, is shown at its own pace.
@Suite struct LateClientTests {
    @Test(.inItsTurn, arguments: [300, 450]) func afterAHiccup(lateness: Int64) async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let sample = NumberedPictures.landscape(2)
            let late = MediaTime.milliseconds(lateness)
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            for frame in 0..<90 {
                let pts = MediaTime.milliseconds(Int64(frame) * 1000 / 30)
                let delay = frame < 15 ? MediaTime.zero : late
                timetable.append((pts + delay, { client, now in try client.send(sample, pts: now - delay) }))
            }
            try playback.play(timetable)
            try playback.client.finish()
            let recording = try stage.server.finishedRecording()
            let times = try MediaProbe.packets(recording).filter { $0.track == "video" }.map(\.pts).sorted()
            let steps = zip(times, times.dropFirst()).map { $1 - $0 }
            let squeezed = steps.count { $0 < 0.01 }
            // A machine that stands still for a moment may squeeze one by itself; a repeat after each frame would all.
            #expect(squeezed <= 3, "\(squeezed) of \(steps.count) steps are below 10 ms: \(steps)")
            #expect(steps.count > 20, "\(steps.count) steps")
            try stage.checkRecording(recording)
            try stage.end()
        }
    }
}
