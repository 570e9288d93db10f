import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: destinations come and go while a broadcast is live, and the others notice nothing.
@Suite struct DestinationControlTests {
    private func show(_ number: UInt8, for seconds: Int64, in playback: Playback) throws {
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(NumberedPictures.landscape(number), from: .zero, to: .seconds(seconds))
        try playback.play(timetable)
    }

    /// How upcastctl ends, and what it says.
    private func control(_ daemon: Daemon, _ arguments: String...) throws -> (exit: ChildProcess.Exit?, said: String) {
        let process = try ChildProcess(
            ProductExecutable.upcastctl.path, arguments + ["--socket", daemon.controlSocket])
        let exit = process.waitForExit(within: 15)
        return (exit, process.output + process.errors)
    }

    @Test(.inItsTurn) func destinationsComeAndGo() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("control")
            let stage = try Stage(DaemonSettings(bitrateKilobits: 2_000))
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let file = folder.file("second.flv")
            #expect(
                try control(stage.daemon, "destination", "add", "second", "file:\(file)", "sync=at-end").exit
                    == .code(0))
            try show(2, for: 2, in: playback)
            let list = try control(stage.daemon, "destination", "list").said
            #expect(
                list.contains("main  live  ") && list.contains("second  live  file:") || list.contains(file), "\(list)")
            #expect(!list.contains(DaemonSettings.streamKey))

            #expect(try control(stage.daemon, "destination", "remove", "second").exit == .code(0))
            try waitFor("it to be gone") { try !stage.daemon.statusText().contains("second.flv") }
            try show(3, for: 1, in: playback)
            #expect(try playback.client.finish().reason == .finished)

            // The file is whole, begins with a keyframe, and has nothing of what came after.
            try waitFor("the file to be complete") { try MediaProbe.decodingErrors(file) == "" }
            #expect(try MediaProbe.packets(file).first { $0.track == "video" }?.isKeyframe == true)
            #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: file).image) == 2)
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)
            #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: recording).image) == 3)
            #expect(stage.server.recordings.count == 1)
            try stage.end()
        }
    }

    /// What is not possible is said in a sentence, and changes nothing.
    @Test(.inItsTurn) func impossibleChangesAreRefused() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("control")
            let stage = try Stage()
            func refused(_ why: String, _ arguments: [String]) throws {
                let process = try ChildProcess(
                    ProductExecutable.upcastctl.path, arguments + ["--socket", stage.daemon.controlSocket])
                #expect(process.waitForExit(within: 15) == .code(1))
                #expect(process.errors.contains(why), "\(process.errors)")
                #expect(process.errors.split(separator: "\n").count == 1, "\(process.errors)")
            }
            let file = "file:\(folder.file("x.flv"))"
            try refused("already the name", ["destination", "add", "main", file])
            try refused("unknown key \"ca_files\"", ["destination", "add", "x", file, "ca_files=1"])
            try refused("there is no stream key", ["destination", "add", "x", "rtmp://127.0.0.1/live"])
            try refused("there is no destination \"x\"; there is main", ["destination", "remove", "x"])
            try refused("there is no destination \"x\"", ["retry", "x"])
            // One after the other until there are as many as a daemon serves.
            var added = 0
            while try control(stage.daemon, "destination", "add", "f\(added)", "file:\(folder.file("\(added).flv"))")
                .exit
                == .code(0)
            { added += 1 }
            try refused("at most 8", ["destination", "add", "more", file])
            #expect(added == 7)
            // They last beyond a broadcast: the next one publishes to them, too.
            #expect(try control(stage.daemon, "destination", "list").said.split(separator: "\n").count == 1 + added)
            try stage.end()
        }
    }

    @Test(.inItsTurn) func anAttemptCanBeHastened() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.destinationFields = ["reconnect_first_ms": "60000", "reconnect_longest_ms": "60000"]
            settings.publish(to: "rtmp://127.0.0.1:\(try Loopback.freePort())/live")
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            func refusals() throws -> Int {
                let destinations = try daemon.status()["destinations"] as? [[String: Any]]
                return (destinations?.first?["failures"] as? [String: Any])?["connect"] as? Int ?? -1
            }
            try waitFor("the first refusal") { try refusals() == 1 }
            #expect(try control(daemon, "retry").exit == .code(0))
            try waitFor("the second refusal") { try refusals() == 2 }
            try daemon.waitForLog("trying again now, as asked")
            #expect(try control(daemon, "retry", "main").exit == .code(0))
            try waitFor("the third refusal") { try refusals() == 3 }
            // A stop is not kept waiting by the pause, either.
            #expect(try daemon.terminate(within: 10) == .code(3))
        }
    }

    /// Everything arrives, so much later than it happened.
    @Test(.inItsTurn) func aBroadcastCanBeDelayed() async throws {
        try await blocking {
            var settings = DaemonSettings(bitrateKilobits: 1_000)
            settings.buffer = ["delay_ms": "2500", "max_bytes": "1MiB"]
            let stage = try Stage(settings)
            let clock = ContinuousClock()
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            let begin = clock.now
            let playback = Playback(client)
            try show(1, for: 2, in: playback)
            func sent() throws -> Int {
                let destinations = try stage.daemon.status()["destinations"] as? [[String: Any]]
                return destinations?.first?["packets_sent"] as? Int ?? -1
            }
            #expect(try sent() == 0 || clock.now - begin > .milliseconds(2500))
            try waitFor("the first packet") { try sent() > 0 }
            #expect(clock.now - begin >= .milliseconds(2400))
            let status = try stage.daemon.statusText()
            #expect(status.contains("\"state\":\"live\"") && !status.contains("congested"), "\(status)")
            try show(2, for: 1, in: playback)
            let end = clock.now
            #expect(try client.finish().reason == .finished)
            #expect(clock.now - end >= .milliseconds(2000), "what is delayed still goes out at its own pace")
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)
            #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: recording).image) == 2)
            try stage.end()
        }
    }
}
