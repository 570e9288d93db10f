import FaultProxy
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: once the curtain is up, nothing from before reaches viewers, neither picture nor sound; and the stream goes
/// on.
@Suite struct CurtainTests {
    private static let marker = RawSample(
        RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1)), format: .i420)
    private static let grey = RawSample(
        RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5)), format: .i420)
    private static let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
    private static let tone = Tone(frequency: 440, amplitude: 0.25)

    private func isColored(_ image: I420Image) -> Bool { image.u.contains { $0 > 150 } }

    private func post(_ stage: Stage, _ path: String, _ body: String = "") throws -> String {
        let answer = try UnixHTTPClient.ask("POST", path, body: body, socket: stage.daemon.controlSocket)
        #expect(answer.status == 200, "\(answer)")
        return answer.body
    }

    @Test(.inItsTurn, arguments: [0, 2000]) func nothingFromBeforeComesAfterwards(delay: Int) async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.buffer = ["delay_ms": "\(delay)", "max_bytes": "6MiB"]
            let stage = try Stage(settings)
            let playback = try stage.live(showing: Self.grey)
            func show(_ sample: RawSample, _ seconds: Int64) throws {
                var timetable: [(at: MediaTime, action: Playback.Action)] = []
                timetable.show(sample, from: .zero, to: .seconds(seconds), every: .milliseconds(33))
                timetable.sound(.app, Self.tone, format: Self.format, from: .zero, to: .seconds(seconds))
                try playback.play(timetable)
            }
            try show(Self.marker, 3)
            let asked = MonotonicClock().now()
            let answer = try post(stage, "/curtain/up", #"{"app": "kiosk", "reason": "will resign active"}"#)
            let acknowledged = MonotonicClock().now()
            print("acknowledged after \(acknowledged - asked): \(answer)")
            try show(Self.marker, 2)
            #expect(try post(stage, "/curtain/down", #"{"app": "kiosk"}"#).contains("false"))
            try show(Self.grey, 1)
            try playback.client.finish()
            #expect(playback.client.errors.map(\.text) == [])

            let recording = try stage.server.finishedRecording()
            let arrivals = try #require(stage.arrivals.all.first)
            var colored = 0
            var last = -1.0
            try DecodedVideo.forEachFrame(of: recording) { frame in
                guard isColored(frame.image) else { return }
                colored += 1
                last = max(last, frame.pts)
                let arrival = try #require(
                    arrivals.video.first { abs($0.timestamp.secondsAsDouble - frame.pts) < 0.0015 }, "\(frame.pts)")
                // The server's files are looked at every 10 ms.
                #expect(arrival.time < acknowledged + .milliseconds(60), "\(frame.pts): \(arrival.time - acknowledged)")
            }
            // Without a delay all had left, and with one a part.
            #expect(colored > 15)
            let packets = try MediaProbe.packets(recording)
            let video = packets.filter { $0.track == "video" }
            let longest = zip(video, video.dropFirst()).map { $1.dts - $0.dts }.max() ?? 99
            // A client that a sanitizer makes late comes back to its time with a step.
            let isPunctual = Patience.factor == 1
            #expect(longest < 0.4 || !isPunctual, "a gap of \(longest) s")
            // A busy server may not have acknowledged all bytes: then the daemon breaks the connection.
            if stage.server.recordings.count > 1 {
                let second = try stage.server.finishedRecording(1)
                #expect(try self.colored(in: second) == 0)
                #expect(try #require(MediaProbe.packets(second).first { $0.track == "video" }).isKeyframe)
                return try stage.end()
            }
            let next = try #require(video.first { $0.dts > last + 0.0005 })
            #expect(next.isKeyframe)
            let sound = packets.filter { $0.track == "audio" }
            let gap = zip(sound, sound.dropFirst()).map { $1.dts - $0.dts }.max() ?? 99
            #expect(gap < 0.05, "a gap of \(gap) s in the sound")

            let audio = try DecodedAudio(recording)
            func level(_ from: Double, _ to: Double) -> Double {
                ToneAnalysis.level(
                    of: 440, in: audio.samples(channel: 0, from: from, to: to), sampleRate: audio.sampleRate)
            }
            // A client that the machine holds up for longer than the mixer waits is silence there, not elsewhere.
            func isHeard(from: Double, to: Double) -> Bool {
                stride(from: from, to: to - 0.15, by: 0.05).contains { level($0, $0 + 0.15) > -14 }
            }
            #expect(isHeard(from: last - (delay == 0 ? 2 : 0.8), to: last - 0.2) || !isPunctual)
            // A picture is as late as the one before it was, and sound that had left may be of later: the answer says
            // of when. Its last packet fades with its window, of 21 ms.
            let match = try #require(answer.firstMatch(of: #/"last_pts_ms":\{"main":(\d+)\}/#))
            let left = try #require(Double(match.1)) / 1000
            for time in stride(from: max(next.dts, left) + 0.1, to: next.dts + 1.8, by: 0.1) {
                #expect(level(time, time + 0.1) < -70, "\(time) s: \(level(time, time + 0.1)) dB")
            }
            let end = audio.start + audio.duration
            #expect(isHeard(from: end - 0.9, to: end - 0.1) || !isPunctual)
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// Noise in the marker's colour, so that an encoder has something to send.
    private static let noise: RawSample = {
        var random = SystemRandomNumberGenerator()
        var image = RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1))
        for row in 0..<180 {
            for column in 0..<320 {
                let value = Float.random(in: 0...0.5, using: &random)
                image[column, row] = RGB(1 - value, 0, 1 - value)
            }
        }
        return RawSample(image, format: .i420)
    }()

    private func colored(in recording: String) throws -> Int {
        var count = 0
        try DecodedVideo.forEachFrame(of: recording) { count += isColored($0.image) ? 1 : 0 }
        return count
    }

    /// A link that carries nothing holds what was written before: it goes with the connection, and the next one begins
    /// with the curtain.
    @Test(.inItsTurn) func whatAStalledLinkHoldsGoesNowhere() async throws {
        try await blocking {
            let stage = try Stage(behindProxy: true)
            let proxy = try #require(stage.proxy)
            let playback = try stage.live(showing: Self.grey)
            func play(_ samples: [RawSample], _ seconds: Int64) throws {
                var timetable: [(at: MediaTime, action: Playback.Action)] = []
                for (index, sample) in samples.enumerated() {
                    timetable.show(
                        sample, from: .milliseconds(Int64(index) * 33), to: .seconds(seconds),
                        every: .milliseconds(33 * Int64(samples.count)))
                }
                try playback.play(timetable)
            }
            try play([Self.noise, Self.marker], 1)
            try proxy.apply(.stall)
            try waitFor("the link to be full", evidence: { stage.daemon.log }) {
                try play([Self.noise, Self.marker], 1)
                return (try stage.destination()["lag_ms"] as? Int ?? 0) > 300
            }
            #expect(try stage.failures("connection_lost") == 0)
            _ = try post(stage, "/curtain/up")
            try waitFor("the connection to be given up", evidence: { stage.daemon.log }) {
                try stage.failures("connection_lost") == 1
            }
            try proxy.apply(.resume)
            try waitFor(
                "another", evidence: { ((try? stage.daemon.statusText()) ?? "no status") + stage.daemon.log }
            ) { stage.arrivals.all.count > 1 }
            try play([Self.noise, Self.marker], 1)
            try playback.client.finish()
            #expect(try colored(in: stage.server.finishedRecording(0)) > 5)
            #expect(try colored(in: stage.server.finishedRecording(1)) == 0)
            try stage.end()
        }
    }

    /// Raised and lowered again and again at any moment, with and without a delay.
    @Test(.inItsTurn, arguments: [0, 1000]) func againAndAgain(delay: Int) async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.video["frame_rate"] = "60"
            settings.buffer = ["delay_ms": "\(delay)", "max_bytes": "6MiB"]
            let stage = try Stage(settings)
            let playback = try stage.live(showing: Self.grey)
            let clock = MonotonicClock()
            var random = SystemRandomNumberGenerator()
            var spans: [ClosedRange<MediaTime>] = []
            var slowest = MediaTime.zero
            for _ in 0..<12 {
                func show(_ milliseconds: Int64) throws {
                    var timetable: [(at: MediaTime, action: Playback.Action)] = []
                    for (offset, sample) in [(0, Self.marker), (17, Self.noise)] as [(Int64, RawSample)] {
                        timetable.show(
                            sample, from: .milliseconds(offset), to: .milliseconds(milliseconds),
                            every: .milliseconds(34))
                    }
                    try playback.play(timetable)
                }
                try show(.random(in: 200...500, using: &random))
                let asked = clock.now()
                _ = try post(stage, "/curtain/up")
                let up = clock.now()
                slowest = max(slowest, up - asked)
                try show(.random(in: 100...300, using: &random))
                spans.append(up...clock.now())
                // What comes in after it has fallen is shown.
                try waitFor("all to be read") {
                    (try stage.daemon.status()["video"] as? [String: Any])?["frames_received"] as? Int
                        == playback.client.samplesSent
                }
                _ = try post(stage, "/curtain/down")
            }
            try playback.client.finish()
            print("the slowest answer took \(slowest)")
            let recording = try stage.server.finishedRecording()
            let arrivals = try #require(stage.arrivals.all.first).video
            var colored = 0
            try DecodedVideo.forEachFrame(of: recording) { frame in
                guard isColored(frame.image) else { return }
                colored += 1
                let arrival = try #require(
                    arrivals.first { abs($0.timestamp.secondsAsDouble - frame.pts) < 0.0015 }, "\(frame.pts)")
                // The server's files are looked at every 10 ms.
                let leak = spans.first {
                    $0.lowerBound + .milliseconds(40) < arrival.time && arrival.time < $0.upperBound
                }
                #expect(leak == nil, "\(frame.pts): \(arrival.time - (leak?.lowerBound ?? .zero)) after the answer")
            }
            // With a delay longer than the time between two curtains none is seen, unless the machine stands still.
            // A connection that had to be broken ends its recording, and another goes on.
            let rest = try stage.arrivals.all.dropFirst().reduce(0) { try $0 + self.colored(in: $1.path) }
            #expect(delay > 0 || colored + rest > 20, "\(colored) and \(rest)")
            let packets = try MediaProbe.packets(recording)
            for track in ["video", "audio"] {
                let times = packets.filter { $0.track == track }.map(\.dts)
                let gap = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 99
                // The curtain's pictures are as late as the last one before was; one that comes sooner makes a step.
                #expect(gap < 0.8 || Patience.factor > 1, "a gap of \(gap) s in \(track)")
            }
            try stage.checkRecording(recording)
            try stage.end()
        }
    }
}
