import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a broadcast survives whatever its client does in the course of it, and ends in order however it ends.
@Suite struct SessionTests {
    /// The numbers that a recording shows, in order, without repetitions, with the time each came up.
    private func numbers(_ recording: String) throws -> [(number: UInt8, time: Double)] {
        var seen: [(number: UInt8, time: Double)] = []
        try DecodedVideo.forEachFrame(of: recording) { frame in
            guard let number = NumberedPictures.number(in: frame.image) else { return }
            if seen.last?.number != number { seen.append((number, frame.pts)) }
        }
        return seen
    }

    /// Size, format, strides and orientation change between samples; viewers get one stream without a new sequence
    /// header, and each picture is right.
    @Test(.inItsTurn) func changesMidStream() async throws {
        try await blocking {
            struct Step { let width, height: Int, format: PixelFormat, padding: Int, tag: OrientationTag }
            // Upright sizes, all 16:9 or nearly so that the number lies where it is looked for, odd ones included.
            let steps = [
                Step(width: 320, height: 180, format: .i420, padding: 0, tag: .up),
                Step(width: 1280, height: 720, format: .nv12FullRange, padding: 64, tag: .left),
                Step(width: 321, height: 181, format: .i420, padding: 3, tag: .down),
                Step(width: 643, height: 361, format: .nv12VideoRange, padding: 1, tag: .right),
                Step(width: 479, height: 269, format: .yuy2, padding: 4, tag: .leftMirrored),
                Step(width: 1920, height: 1080, format: .bgra, padding: 0, tag: .rightMirrored),
                Step(width: 640, height: 360, format: .p010, padding: 16, tag: .upMirrored),
                Step(width: 333, height: 187, format: .rgba, padding: 12, tag: .downMirrored),
                Step(width: 640, height: 360, format: .i444, padding: 0, tag: .up),
                Step(width: 854, height: 480, format: .i422, padding: 10, tag: .left),
                Step(width: 640, height: 360, format: .uyvy, padding: 0, tag: .down),
                Step(width: 640, height: 360, format: .argb, padding: 0, tag: .right),
            ]
            let stage = try Stage()
            let uprights = steps.enumerated().map { index, step in
                ReferencePicture(width: step.width, height: step.height, number: UInt8(index)).image
            }
            let samples = zip(steps, uprights).map { step, upright in
                RawSample(
                    StoredOrientation.store(upright, tag: step.tag, convention: .exif), format: step.format,
                    padding: step.padding)
            }
            let playback = try stage.live(showing: NumberedPictures.landscape(255))
            for (step, sample) in zip(steps, samples) { try stage.show(sample, orientation: step.tag, in: playback) }
            try playback.client.finish()
            #expect(playback.client.errors.map(\.text) == [])
            #expect(stage.server.recordings.count == 1)
            let recording = try stage.server.finishedRecording()

            var shown: [UInt8: I420Image] = [:]
            try DecodedVideo.forEachFrame(of: recording) { frame in
                if let number = NumberedPictures.number(in: frame.image) { shown[number] = frame.image }
            }
            for (index, step) in steps.enumerated() {
                guard let image = shown[UInt8(index)] else {
                    Issue.record("\(step): never seen upright")
                    continue
                }
                let expected = ReferenceCanvas.render(uprights[index], width: 640, height: 360, fit: .fit)
                try PictureArchive.save(image, as: "change-\(index)")
                let comparison = try PictureComparison(image, expected)
                #expect(comparison.lumaSSIM >= 0.95 && comparison.chromaError <= 3, "\(step): \(comparison)")
            }
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// The smallest and the largest pictures, and odd ones of extreme shape, each turned by its tag.
    @Test(.inItsTurn) func extremeSizes() async throws {
        try await blocking {
            // Stored upper half bright, lower half dark: "right" (6) makes the upper half the right one.
            func halves(_ width: Int, _ height: Int) -> RawSample {
                let format = VideoSampleFormat(packed: .i420, width: width, height: height)
                let (bright, chroma) = (width * (height / 2), ((width + 1) / 2) * ((height + 1) / 2))
                let payload =
                    [UInt8](repeating: 200, count: bright) + [UInt8](repeating: 40, count: width * height - bright)
                    + [UInt8](repeating: 128, count: 2 * chroma)
                return RawSample(format: format, payload: payload)
            }
            for (width, height) in [(16, 16), (4096, 4096), (4095, 17), (17, 4095)] {
                let stage = try Stage(DaemonSettings(fit: "stretch"))
                let playback = try stage.live(showing: halves(width, height), orientation: .right)
                try playback.client.finish()
                #expect(playback.client.errors.map(\.text) == [])
                let recording = try stage.server.finishedRecording()
                let image = try DecodedVideo.lastFrame(of: recording).image
                for y in [40, 180, 320] {
                    #expect(abs(image.meanLuma(x: 120, y: y) - 40) < 4, "\(width)x\(height)")
                    #expect(abs(image.meanLuma(x: 520, y: y) - 200) < 4, "\(width)x\(height)")
                }
                try stage.checkRecording(recording)
                try stage.end()
            }
        }
    }

    /// A missing or impossible orientation is taken as up, and counted.
    @Test(.inItsTurn) func withoutOrientationUpIsMeant() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let sample = NumberedPictures.landscape(2)
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(sample, orientation: nil, from: .zero, to: .milliseconds(300))
            timetable.append(
                (.milliseconds(300), { client, pts in
                    let message = VideoMessage(pts: pts, format: sample.format, orientationRaw: 99)
                    try client.send { message.encode(sequence: $0, payloadBytes: sample.payload.count, into: &$1) }
                    try client.sendRaw(sample.payload)
                }))
            timetable.show(NumberedPictures.landscape(3), from: .milliseconds(400), to: .milliseconds(600))
            try playback.play(timetable)
            try waitFor("both to be counted", evidence: { (try? stage.daemon.statusText()) ?? "" }) {
                let counters = try stage.daemon.status()["timeline"] as? [String: Any]
                return counters?["orientation_missing"] as? Int == 3 && counters?["orientation_invalid"] as? Int == 1
            }
            try playback.client.finish()
            #expect(playback.client.errors.map(\.text) == [])
            #expect(try numbers(stage.server.finishedRecording()).map(\.number) == [1, 2, 3])
            try stage.end()
        }
    }

    /// What is sent during a pause is neither shown nor heard, and the stream goes on meanwhile.
    @Test(.inItsTurn) func pausedAndResumed() async throws {
        try await blocking {
            // Sound that has not left when the pause begins is not heard any more: half a second of patience.
            var settings = DaemonSettings()
            settings.audio["min_latency_ms"] = "400"
            let stage = try Stage(settings)
            let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
            let tone = Tone(frequency: 440, amplitude: 0.25)
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(1), from: .zero, to: .milliseconds(2000))
            timetable.append((.milliseconds(2001), { client, _ in try client.sendPaused() }))
            timetable.show(NumberedPictures.landscape(66), from: .milliseconds(2100), to: .milliseconds(4000))
            timetable.append((.milliseconds(4001), { client, _ in try client.sendResumed() }))
            timetable.show(NumberedPictures.landscape(3), from: .milliseconds(4100), to: .milliseconds(5500))
            timetable.sound(.app, tone, format: format, from: .zero, to: .milliseconds(5500))
            let playback = try stage.live(showing: NumberedPictures.landscape(255))
            try playback.play(timetable)
            try playback.client.finish()
            let recordings = try stage.end(afterCurtains: 1)
            #expect(try recordings.flatMap { try numbers($0).map(\.number) } == [255, 1, 3])
            for recording in recordings {
                try stage.checkRecording(recording)
                try expectPause(in: recording)
            }
        }
    }

    /// What one connection shows of the pause: pictures at all times, and the sound before and after it, but not of it.
    private func expectPause(in recording: String) throws {
        let packets = try MediaProbe.packets(recording).filter { $0.track == "video" }.map(\.dts)
        let longest = zip(packets, packets.dropFirst()).map { $1 - $0 }.max() ?? 99
        #expect(longest < 1, "no picture for \(longest) s")
        let (seen, sound) = (try numbers(recording), try CurtainRecording(recording))
        let audio = sound.audio
        func time(of number: UInt8) -> Double? { seen.first { $0.number == number }?.time }
        /// Of the part of this time that the connection has.
        func level(_ from: Double, _ to: Double) -> Double? {
            let (from, to) = (max(from, audio.start), min(to, audio.end))
            guard to - from > 0.1 else { return nil }
            return ToneAnalysis.level(
                of: 440, in: audio.samples(channel: 0, from: from, to: to), sampleRate: audio.sampleRate)
        }
        if let first = time(of: 1), let before = level(first + 0.3, first + 0.8) { #expect(before > -14) }
        if let third = time(of: 3) {
            #expect(try #require(level(third + 0.5, third + 1.1)) > -14)
            // A connection that began in the pause has nothing from before it.
            sound.expectSilence(from: time(of: 1) == nil ? audio.start : third - 1.6, to: third - 0.2)
        }
        // The curtain broke this connection in the pause.
        if let first = time(of: 1), time(of: 3) == nil {
            sound.expectSilence(from: first + 2.5, to: min(first + 3.9, audio.end))
        }
        // Times go on within one connection only.
        if let first = time(of: 1), let third = time(of: 3) {
            #expect(abs(third - first - 4.1) < 0.25, "the pause shifted time: \(third - first) s instead of 4.1")
        }
    }

    /// `finished` is answered with a goodbye that counts, the recording is closed, and the next client is served.
    @Test(.inItsTurn) func finishedThenNextClient() async throws {
        try await blocking {
            let stage = try Stage()
            for round in 0..<2 {
                let playback = try stage.live(showing: NumberedPictures.landscape(UInt8(10 + round)))
                var timetable: [(at: MediaTime, action: Playback.Action)] = []
                timetable.show(NumberedPictures.landscape(UInt8(20 + round)), from: .zero, to: .seconds(1))
                try playback.play(timetable)
                let goodbye = try playback.client.finish()
                #expect(goodbye.reason == .finished, "\(goodbye)")
                #expect(goodbye.framesTaken >= 5)
                let recording = try stage.server.finishedRecording(round)
                let seen = try numbers(recording).map(\.number)
                #expect(seen == [UInt8(10 + round), UInt8(20 + round)])
                try stage.checkRecording(recording)
            }
            try stage.end()
        }
    }

    /// A client process that is killed while it sends: the recording is closed and whole, the next client is served.
    @Test(.inItsTurn) func clientKilledMidFrame() async throws {
        try await blocking {
            let stage = try Stage()
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", stage.daemon.ingestSocket, "--size", "1920x1080"])
            try waitFor("the sender's broadcast at the server", evidence: { sender.errorTail + stage.daemon.log }) {
                stage.server.recordedBytes > 30_000
            }
            try sender.stop(SIGKILL)
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)

            // And a client that ends for certain in the middle of a frame.
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let sample = NumberedPictures.landscape(99)
            let message = VideoMessage(pts: playback.now, format: sample.format, orientation: .up)
            try playback.client.send {
                message.encode(sequence: $0, payloadBytes: sample.payload.count, into: &$1)
            }
            try playback.client.sendRaw(Array(sample.payload.prefix(sample.payload.count / 2)))
            playback.client.closeSending()
            try playback.client.waitForEnd()
            let second = try stage.server.finishedRecording(1)
            #expect(try numbers(second).map(\.number) == [1])
            try stage.checkRecording(second)

            let third = try stage.live(showing: NumberedPictures.landscape(2))
            #expect(try third.client.finish().reason == .finished)
            try stage.end()
        }
    }

    /// SIGTERM in the middle of a broadcast: the client is told, what was taken goes out, the last frame is whole.
    @Test(.inItsTurn) func terminationDrains() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(1))
            timetable.show(NumberedPictures.landscape(3), from: .seconds(1), to: .milliseconds(1500))
            try playback.play(timetable)
            try stage.end()
            let goodbye = try playback.client.waitForReply("a goodbye") {
                if case .goodbye(let goodbye) = $0 { goodbye } else { nil }
            }
            #expect(goodbye.reason == .daemonStopping)
            let recording = try #require(stage.server.recordings.first)
            #expect(try numbers(recording).map(\.number) == [1, 2, 3])
            let last = try DecodedVideo.lastFrame(of: recording)
            #expect(NumberedPictures.number(in: last.image) == 3)
            try PictureArchive.save(last.image, as: "drained-last-frame")
            try stage.checkRecording(recording)
        }
    }

    /// A screen that does not change sends one frame and then nothing: viewers keep getting picture and sound.
    @Test(.inItsTurn) func staticScreenStaysOnAir() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try client.send(NumberedPictures.landscape(7), pts: playback.now)
            _ = try client.waitForReply("live") { reply -> Bool? in
                if case .state(let state) = reply, state.state == .live { true } else { nil }
            }
            try playback.play([(.seconds(5), { _, _ in })])
            try client.finish()
            let recording = try stage.server.finishedRecording()
            let packets = try MediaProbe.packets(recording)
            for track in ["video", "audio"] {
                let times = packets.filter { $0.track == track }.map(\.dts)
                #expect((times.last ?? 0) > 4.5, "\(track) ends at \(times.last ?? 0) s")
                let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 99
                #expect(longest < 1.1, "no \(track) for \(longest) s")
            }
            #expect(packets.contains { $0.track == "video" && $0.isKeyframe && $0.pts > 1.5 })
            #expect(try numbers(recording).map(\.number) == [7])
            try stage.checkRecording(recording)
            try stage.end()
        }
    }
}
