import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: the default profile streams inside 50 MiB, swap excluded.
@Suite struct MemoryTests {
    private static let limit = 50 << 20
    /// Of the code that is mapped, what is used (`MemoryRoom`).
    private static let codeInUse = 4_000_000

    /// Ten seconds of 1920x1080 at 30 frames a second, turned and scaled to the default canvas, with both sounds.
    @Test(.inItsTurn) func defaultProfileInsideTheCap() async throws {
        try await blocking {
            let cgroup: MemoryCgroup?
            do { cgroup = try MemoryCgroup(limitBytes: Self.limit) } catch {
                // A machine without permission to make one still runs the broadcast and looks at VmHWM.
                print("memory: no cgroup here, only VmHWM is looked at: \(error)")
                cgroup = nil
            }
            var settings = DaemonSettings()
            settings.video = [:]
            let stage = try Stage(settings, in: cgroup)
            let pictures = [1, 2].map { (number: UInt8) in
                let upright = ReferencePicture(width: 1080, height: 1920, number: number).image
                return RawSample(
                    StoredOrientation.store(upright, tag: .right, convention: .exif), format: .nv12FullRange)
            }
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            for frame in 0..<300 {
                let picture = pictures[frame / 5 % 2]
                timetable.append(
                    (.milliseconds(Int64(frame) * 1000 / 30), { client, pts in
                        try client.send(picture, pts: pts, orientation: .right)
                    }))
            }
            let length = MediaTime.seconds(10)
            timetable.sound(
                .app, Tone(frequency: 440, amplitude: 0.2),
                format: AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true), from: .zero,
                to: length)
            timetable.sound(
                .microphone, Tone(frequency: 1000, amplitude: 0.1),
                format: AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16), from: .zero, to: length)
            let playback = try stage.live(showing: pictures[0], orientation: .right)
            try playback.play(timetable)
            let figures = try #require(stage.daemon.figures)
            let latency = try #require(try stage.destination()["latency"] as? [String: Any])
            let encoder = try #require((try stage.daemon.status()["latency"] as? [[String: Any]])?.first)
            let goodbye = try playback.client.finish()
            try stage.checkRecording(stage.server.finishedRecording())
            print(
                """
                memory: VmHWM \(figures.peakResidentBytes >> 10) KiB, \(figures.sharedBytes >> 10) shared, of \
                \(Self.limit >> 10) KiB, cgroup peak \
                \((cgroup?.peakBytes ?? 0) >> 10) KiB, \(goodbye.framesTaken) frames taken, \
                \(goodbye.framesDropped) dropped
                \(try stage.daemon.plan())
                """)
            print("latency: to the encoder's end \(encoder), to the wire \(latency)")
            for name in ["p50_us", "p99_us"] {
                let (inside, outside) = (encoder[name] as? Int ?? 0, latency[name] as? Int ?? 0)
                // Quantiles are exact to 6 %.
                #expect(inside > 0 && Double(outside) > Double(inside) * 0.9, "\(name)")
            }
            // What cannot be taken back: of a debug build's code, more is resident than of the daemon that is shipped,
            // whose resident set `scripts/bench --only work` shows. The client's pictures are the client's.
            let needed = figures.anonymousBytes + Self.codeInUse
            #expect(needed < Self.limit)
            #expect(cgroup?.kills ?? 0 == 0)
            #expect(goodbye.framesTaken > 100, "\(goodbye)")
            try stage.end()
        }
    }
}
