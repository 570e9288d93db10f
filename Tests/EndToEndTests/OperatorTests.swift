import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: the three programs work with each other as an operator starts them.
@Suite struct OperatorTests {
    /// `upcastctl status` shows a live broadcast, for people and as JSON, and no secret.
    @Test(.inItsTurn) func statusOfALiveBroadcast() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(2), orientation: .left, from: .zero, to: .seconds(1))
            try playback.play(timetable)
            let control = try ProductExecutable.upcastctl.path
            let text = try ChildProcess.run(control, ["status", "--socket", stage.daemon.controlSocket])
            #expect(text.contains("live") && text.contains("end-to-end test"), "\(text)")
            let json = try ChildProcess.run(control, ["status", "--json", "--socket", stage.daemon.controlSocket])
            let status = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            #expect(status["state"] as? String == "live")
            let video = try #require(status["video"] as? [String: Any])
            #expect(video["frames_encoded"] as? Int ?? 0 > 5)
            #expect((video["source"] as? String)?.contains("320x180 I420") == true, "\(video)")
            let destination = try #require((status["destinations"] as? [[String: Any]])?.first)
            #expect(destination["state"] as? String == "live")
            #expect(destination["bytes_sent"] as? Int ?? 0 > 10_000)
            let memory = try #require(status["memory"] as? [String: Any])
            #expect(memory["plan_bytes"] as? Int ?? .max <= memory["cap_bytes"] as? Int ?? 0)
            #expect(!text.contains(DaemonSettings.streamKey) && !json.contains(DaemonSettings.streamKey))
            for name in Self.names(in: status) {
                #expect(name.wholeMatch(of: /[a-z]+[0-9]*(_[a-z]+)*/) != nil, "\(name)")
            }
            try playback.client.finish()
            try stage.end()
        }
    }

    /// Every member's name, at any depth.
    private static func names(in value: Any) -> [String] {
        switch value {
        case let object as [String: Any]: object.keys + object.values.flatMap(names)
        case let array as [Any]: array.flatMap(names)
        default: []
        }
    }

    /// The synthetic sender: a pattern that is turned as it goes, two tones; it ends by itself, and all of it arrives.
    @Test(.inItsTurn) func syntheticSender() async throws {
        try await blocking {
            let stage = try Stage(.patient)
            _ = try ChildProcess.run(
                ProductExecutable.upcastSend.path,
                [
                    "--socket", stage.daemon.ingestSocket, "--seconds", "4", "--size", "360x640", "--rate", "15",
                    "--orientation", "all:0.5", "--app-audio", "tone:500", "--mic", "tone:1500",
                ])
            let recording = try stage.server.finishedRecording()
            let frames = try DecodedVideo.forEachFrame(of: recording) { frame in
                if frame.index % 10 == 5 { try PictureArchive.save(frame.image, as: "pattern-\(frame.index)") }
            }
            // A busy machine leaves out what is late.
            #expect(frames > 30, "\(frames) frames of 60")
            let audio = try DecodedAudio(recording)
            #expect(audio.duration > 3.5)
            let middle = audio.samples(channel: 1, from: audio.start + 1.5, to: audio.start + 3)
            for tone in [500.0, 1500] {
                let level = ToneAnalysis.level(of: tone, in: middle, sampleRate: audio.sampleRate)
                #expect(level > -40, "\(tone) Hz at \(level) dBFS")
                let pitch = ToneAnalysis.pitch(
                    in: middle, sampleRate: audio.sampleRate, range: tone - 20...tone + 20)
                #expect(abs(pitch - tone) <= 1)
            }
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// A sender whose broadcast fails says why and ends with the status that its help names.
    @Test(.inItsTurn) func senderSaysWhyItWasEnded() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:\(try Loopback.freePort())/live")
            settings.destinations[0].fields["reconnect"] = "false"
            let daemon = try Daemon(settings)
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", daemon.ingestSocket, "--size", "320x180"])
            #expect(sender.waitForExit(within: 20) == .code(3), "\(sender.errorTail)")
            #expect(sender.errors.contains("refused"), "\(sender.errorTail)")
            // Once, though the daemon says it as an error and again in its goodbye.
            #expect(sender.errors.split(separator: "\n").count == 1, "\(sender.errors)")
            // Nothing was ever published.
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
        }
    }

    /// Each socket given to the program that needs the other one.
    @Test(.inItsTurn) func socketsMixedUp() async throws {
        try await blocking {
            let stage = try Stage()
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", stage.daemon.controlSocket])
            #expect(sender.waitForExit(within: 20) == .code(2), "\(sender.errorTail)")
            #expect(sender.errors.contains("this is the control socket (HTTP)"), "\(sender.errors)")
            let control = try ChildProcess(
                ProductExecutable.upcastctl.path, ["status", "--socket", stage.daemon.ingestSocket])
            #expect(control.waitForExit(within: 20) == .code(2), "\(control.errorTail)")
            #expect(control.errors.contains("this is the capture socket"), "\(control.errors)")
            try stage.end()
        }
    }

    /// A sender without a daemon says so at once.
    @Test(.inItsTurn) func senderWithoutDaemon() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("nobody")
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", folder.file("nobody.sock")])
            #expect(sender.waitForExit(within: 20) == .code(2), "\(sender.errorTail)")
            #expect(sender.errors.contains("nobody.sock"), "\(sender.errorTail)")
        }
    }
}
