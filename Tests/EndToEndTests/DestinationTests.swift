import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a destination that fails is noticed, said in one sentence, and stops nothing else; files are a destination
/// as good as a server.
@Suite struct DestinationTests {
    private func sendFor(_ seconds: Int64, _ client: CaptureClient) throws {
        let playback = Playback(client)
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(NumberedPictures.landscape(1), from: .zero, to: .seconds(seconds))
        // The daemon may end the broadcast while samples are on their way.
        _ = try? playback.play(timetable)
    }

    /// Nothing listens at the port.
    @Test(.inItsTurn) func nothingListens() async throws {
        try await blocking {
            let port = try Loopback.freePort()
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:\(port)/live")
            settings.destinations[0].fields["reconnect"] = "false"
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try sendFor(1, client)
            try client.waitForEnd()
            #expect(client.errors.last?.code == .broadcastFailed)
            #expect(client.errors.last?.text.contains("refused") == true, "\(client.errors)")
            // Afterwards, too, status says what became of it.
            try waitFor("status to say it", evidence: { (try? daemon.statusText()) ?? "no status" }) {
                try daemon.statusText().contains("refused")
            }
            let status = try daemon.statusText()
            #expect(!status.contains(DaemonSettings.streamKey))
            // One failure is one line, and one sentence for the client.
            try daemon.waitForLog("refused")
            #expect(daemon.log.split(separator: "\n").filter { $0.contains("refused") }.count == 1, "\(daemon.log)")
            #expect(client.errors.map { $0.text.ranges(of: "refused").count } == [1], "\(client.errors)")
            // And the next client may try again.
            let next = try CaptureClient(socket: daemon.ingestSocket)
            try next.start()
            try next.waitForEnd()
            #expect(daemon.log.lowercased().contains("refused"))
            // Nothing was ever published.
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
            #expect(!daemon.log.contains(DaemonSettings.streamKey))
        }
    }

    /// The server dies in the middle of a broadcast.
    @Test(.inItsTurn) func serverDies() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try waitFor("something to be recorded") { stage.server.recordedBytes > 10_000 }
            let before = stage.daemon.log.count
            try stage.server.kill()
            try sendFor(2, playback.client)
            try waitFor("the log to say it", evidence: { stage.daemon.log.suffix(1000).description }) {
                let news = stage.daemon.log.dropFirst(before).lowercased()
                return news.contains("clos") || news.contains("lost") || news.contains("reset")
            }
            // It is tried again until the stop, and what was encoded could not be sent: the exit status says so.
            #expect(try stage.daemon.statusText().contains("reconnecting"))
            #expect(try stage.daemon.terminate() == .code(3), "\(stage.daemon.process.errorTail)")
        }
    }

    /// A server that accepts the connection and never says a word.
    @Test(.inItsTurn) func serverNeverAnswers() async throws {
        try await blocking {
            let mute = try SilentServer()
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:\(mute.port)/live")
            settings.destinations[0].fields["handshake_timeout_ms"] = "1000"
            settings.destinations[0].fields["reconnect"] = "false"
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try sendFor(2, client)
            try waitFor("the log to say it", evidence: { daemon.log.suffix(1000).description }) {
                daemon.log.contains("handshake")
            }
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
        }
    }

    /// A file and a server at once: two cursors, two whole recordings of the same broadcast.
    @Test(.inItsTurn) func fileBesideServer() async throws {
        try await blocking {
            let server = try NginxRTMP()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.publish(to: server.url)
            // Each destination has a send buffer that must find its place under the cap.
            settings.video["bitrate_kbps"] = "4000"
            settings.buffer["max_bytes"] = "1MiB"
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try playback.bringLive(NumberedPictures.landscape(1))
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(2))
            try playback.play(timetable)
            try client.finish()
            for path in [try server.finishedRecording(), folder.file("out.flv")] {
                let errors = try MediaProbe.decodingErrors(path)
                #expect(errors == "")
                #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: path).image) == 2)
                let flv = try FLVRecording(path)
                #expect(flv.videoSequenceHeaders.count == 1 && flv.audioSequenceHeaders.count == 1)
            }
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        }
    }

    /// Bug: a key that could not be read stopped the whole broadcast. And a key that has been put there, or replaced,
    /// is read at the next connection.
    @Test(.inItsTurn) func aMissingKeyCostsTheOthersNothing() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("key")
            var settings = DaemonSettings(bitrateKilobits: 2_000)
            settings.control["secrets_folder"] = folder.path
            let stage = try Stage(settings)
            let second = try NginxRTMP()
            // Without a key it could not be added; it goes before the first connection.
            try folder.write("a-key\n", to: "key")
            let add = try ChildProcess(
                ProductExecutable.upcastctl.path,
                [
                    "destination", "add", "second", second.url, "key_file=key", "--socket",
                    stage.daemon.controlSocket,
                ])
            #expect(add.waitForExit(within: 15) == .code(0), "\(add.errors)")
            try FileManager.default.removeItem(atPath: folder.file("key"))
            // The client is told that one of two is lost, so it does not wait for "live".
            func begin() throws -> (client: CaptureClient, send: () -> Void) {
                let client = try CaptureClient(socket: stage.daemon.ingestSocket)
                try client.start()
                let playback = Playback(client)
                return (
                    client,
                    { _ = try? client.send(NumberedPictures.landscape(3), pts: playback.now, orientation: .up) }
                )
            }
            let first = try begin()
            try waitFor("status to say it", evidence: { (try? stage.daemon.statusText()) ?? "no status" }) {
                first.send()
                return try stage.daemon.statusText().contains("(control.secrets_folder): No such file")
            }
            try waitFor("the first to go on") {
                first.send()
                return stage.server.recordedBytes > 5_000
            }
            #expect(try first.client.finish().reason == .finished)
            try stage.checkRecording(try stage.server.finishedRecording())

            try folder.write("first-key\n", to: "key")
            let next = try begin()
            try waitFor("the second to begin") {
                next.send()
                return second.recordedBytes > 5_000
            }
            try folder.write("second-key\n", to: "key")
            try second.kill()
            try second.restart()
            try waitFor("the second to go on with the new key") {
                next.send()
                return second.recordings.contains { $0.contains("second-key") }
            }
            #expect(second.recordings.contains { $0.contains("first-key") })
            #expect(!stage.daemon.log.contains("first-key") && !stage.daemon.log.contains("second-key"))
            #expect(try next.client.finish().reason == .finished)
            #expect(try stage.daemon.terminate() == .code(0), "\(stage.daemon.process.errorTail)")
        }
    }

    /// A file that may not grow any more sends a signal that ends a process which does not know it.
    @Test(.inItsTurn) func fileReachesItsLimitBesideServer() async throws {
        try await blocking {
            let server = try NginxRTMP()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.publish(to: server.url)
            settings.video["bitrate_kbps"] = "4000"
            settings.buffer["max_bytes"] = "1MiB"
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            _ = try ChildProcess.run("/usr/bin/prlimit", ["--pid", "\(daemon.process.processID)", "--fsize=65536"])
            try sendFor(3, client)
            try waitFor("status to say it", evidence: { (try? daemon.statusText()) ?? "no status" }) {
                try daemon.statusText().contains("File too large")
            }
            try client.finish()
            for path in [try server.finishedRecording(), folder.file("out.flv")] {
                let errors = try MediaProbe.decodingErrors(path)
                #expect(errors == "")
            }
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        }
    }
}
