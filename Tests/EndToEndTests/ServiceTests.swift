import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: a service manager is told the truth, and what it made stays its own. (scripts/systemd has the real one.)
@Suite struct ServiceTests {
    /// From a socket that was there before the daemon to one that is there after it.
    @Test(.inItsTurn) func aPassedSocket() async throws {
        try await blocking {
            let manager = try ServiceManager()
            let server = try NginxRTMP()
            var settings = DaemonSettings()
            settings.publish(to: server.url)
            let daemon = try Daemon(settings, environment: manager.environment, isActivated: true)
            try waitFor("READY") { manager.count("READY=1") == 1 }
            let idle = /STATUS=idle: waits for a capture client; memory [0-9]+ of [0-9]+ MiB needed/
            #expect(manager.news.contains { $0.wholeMatch(of: idle) != nil }, "\(manager.news)")
            try daemon.waitForLog("capture_socket=\(daemon.ingestSocket)")

            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try playback.bringLive(NumberedPictures.landscape(1), orientation: .up)
            try waitFor("the status", evidence: { "\(manager.news)" }) {
                manager.news.contains { $0.hasPrefix("STATUS=on air: main, ") }
            }
            try client.finish()
            #expect(manager.count("STOPPING=1") == 0)
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
            #expect(manager.count("STOPPING=1") == 1)
            #expect(manager.count("EXTEND_TIMEOUT_USEC=8000000") == 1, "what the drain may take, and 5 s")
            var status = stat()
            #expect(stat(daemon.ingestSocket, &status) == 0, "the socket's file is not the daemon's to remove")
            #expect(status.st_mode & 0o777 == 0o640, "nor its mode to change")
            try server.stop()
        }
    }

    /// What can change while a broadcast is live changes; what cannot is named; a mistake changes nothing.
    @Test(.inItsTurn) func reload() async throws {
        try await blocking {
            let manager = try ServiceManager()
            let server = try NginxRTMP()
            let folder = try TemporaryDirectory("reload")
            var settings = DaemonSettings()
            settings.publish(to: server.url)
            let daemon = try Daemon(settings, environment: manager.environment)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try playback.bringLive(NumberedPictures.landscape(1), orientation: .up)

            func reload(_ what: String, _ line: String) throws {
                let before = manager.count("READY=1")
                daemon.process.signal(SIGHUP)
                try waitFor(what, evidence: { daemon.process.errorTail + " \(manager.news)" }) {
                    daemon.log.contains(line) && manager.count("READY=1") == before + 1
                }
            }
            // A destination that is late on a busy machine ("congested") is live.
            func states() throws -> [String: String] {
                let all = try daemon.status()["destinations"] as? [[String: Any]] ?? []
                return Dictionary(
                    uniqueKeysWithValues: all.map { destination in
                        let state = destination["state"] as? String ?? ""
                        return (destination["name"] as? String ?? "", state == "congested" ? "live" : state)
                    })
            }

            var changed = settings
            changed.destinations.append(("copy", ["url": "file:\(folder.file("copy.flv"))"]))
            changed.video["bitrate_kbps"] = "4000"
            changed.video["fit"] = "fill"
            try daemon.rewrite(changed)
            try reload("the file", "destination copy added with its new settings")
            #expect(manager.count("RELOADING=1") == 1)
            #expect(manager.news.contains { $0.hasPrefix("MONOTONIC_USEC=") })
            try daemon.waitForLog("waits for the next broadcast keys=video.fit")
            try daemon.waitForLog("video.bitrate_kbps 4000")
            try waitFor("the file to be written") { try states()["copy"] == "live" }

            // The same stream at the same server: its successor has to wait for it.
            changed.destinations[0].fields["connect_timeout_ms"] = "9000"
            try daemon.rewrite(changed)
            try reload("the changed destination", "destination main added with its new settings")
            try waitFor("the changed destination to be live", evidence: { daemon.process.errorTail }) {
                try playback.client.send(NumberedPictures.landscape(1), pts: playback.now, orientation: .up)
                return try states() == ["main": "live", "copy": "live"]
            }

            changed.video["fit"] = "sideways"
            try daemon.rewrite(changed)
            try reload("the mistake", "configuration not reloaded")
            try daemon.waitForLog("video.fit")
            #expect(try states() == ["main": "live", "copy": "live"], "\(daemon.process.errorTail)")

            // What cannot be had on this machine would end what is live.
            changed.video["fit"] = "fill"
            changed.destinations[1].fields["url"] = "file:\(folder.file("none/copy.flv"))"
            try daemon.rewrite(changed)
            try reload("the missing folder", "none/copy.flv does not exist")
            #expect(try states() == ["main": "live", "copy": "live"], "\(daemon.process.errorTail)")

            try daemon.rewrite(settings)
            try reload("the old one", "destination copy removed")
            try client.finish()
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
            try server.stop()
        }
    }

    /// Whoever asks at the control socket learns how a reload has ended: `ExecReload=` of the unit fails with it.
    @Test(.inItsTurn) func aReloadThatIsWaitedFor() async throws {
        try await blocking {
            let manager = try ServiceManager()
            let folder = try TemporaryDirectory("reload")
            var settings = DaemonSettings()
            settings.destinations = [("main", ["url": "file:\(folder.file("main.flv"))"])]
            let daemon = try Daemon(settings, environment: manager.environment)
            try waitFor("READY") { manager.count("READY=1") == 1 }
            func reload() throws -> (status: ChildProcess.Exit?, output: String, errors: String) {
                let control = try ChildProcess(
                    ProductExecutable.upcastctl.path, ["reload", "--socket", daemon.controlSocket])
                let exit = control.waitForExit(within: 30)
                return (exit, control.output, control.errors)
            }
            let same = try reload()
            #expect(same.status == .code(0) && same.output == "nothing has changed\n", "\(same)")

            var changed = settings
            changed.destinations.append(("copy", ["url": "file:\(folder.file("copy.flv"))"]))
            changed.video["fit"] = "fill"
            try daemon.rewrite(changed)
            let applied = try reload()
            #expect(applied.status == .code(0), "\(applied)")
            #expect(
                applied.output
                    == "applied: video.fit fill\napplied: destination copy added with its new settings\n")
            // The manager was told before the command ended.
            #expect(manager.count("READY=1") == 3 && manager.count("RELOADING=1") == 2, "\(manager.news)")

            changed.video["fit"] = "sideways"
            changed.video["width"] = "wide"
            try daemon.rewrite(changed)
            let refused = try reload()
            #expect(refused.status == .code(1), "\(refused)")
            #expect(refused.errors.contains("video.fit: \"sideways\" is not allowed"), "\(refused)")
            #expect(refused.errors.contains("video.width: \"wide\" is not an integer"), "\(refused)")
            #expect(try daemon.statusText().contains(#""name":"copy""#), "nothing has changed")
            // Bug: it was accepted, and the daemon did not start with it.
            var nobody = settings
            nobody.control["operators"] = "no-such-user"
            try daemon.rewrite(nobody)
            let unknown = try reload()
            #expect(unknown.status == .code(1), "\(unknown)")
            #expect(unknown.errors.contains("control.operators: user no-such-user does not exist"), "\(unknown)")
            // A refused reload does not leave the next one with its mistakes.
            try daemon.rewrite(settings)
            let mended = try reload()
            #expect(mended.status == .code(0), "\(mended)")
            #expect(mended.output == "applied: video.fit fit\napplied: destination copy removed\n")
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        }
    }

    @Test(.inItsTurn) func aReloadWithoutAFile() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("reload")
            let socket = folder.file("control.sock")
            let daemon = try ChildProcess(
                ProductExecutable.upcastd.path, [],
                environment: [
                    "UPCAST_INGEST_SOCKET": folder.file("capture.sock"), "UPCAST_CONTROL_SOCKET": socket,
                    "UPCAST_DESTINATIONS_0_URL": "file:\(folder.file("main.flv"))",
                ])
            try waitFor("upcastd to answer", evidence: { daemon.errorTail }) {
                (try? UnixHTTPClient.get("/status", socket: socket)) != nil
            }
            let answer = try UnixHTTPClient.ask("POST", "/reload", body: "", socket: socket)
            #expect(answer.status == 409 && answer.body.contains("not_reloaded"), "\(answer)")
            #expect(answer.body.contains("the daemon was started without a configuration file"), "\(answer)")
            #expect(try daemon.stop(SIGTERM, within: 15) == .code(0))
        }
    }

    /// The watchdog hangs on what the encoder gets done: a daemon whose main thread turns, but not its encoder, is not
    /// well.
    @Test(.inItsTurn) func anEncoderThatHangs() async throws {
        try await blocking {
            let manager = try ServiceManager()
            let server = try NginxRTMP()
            var settings = DaemonSettings()
            settings.publish(to: server.url)
            let daemon = try Daemon(
                settings,
                environment: manager.environment.merging([
                    "WATCHDOG_USEC": "4000000", "UPCAST_TEST_FREEZE": "encoder:10",
                ]) { $1 })
            try waitFor("the warning of the hook") { daemon.log.contains("a test hook is set") }
            try waitFor("the watchdog to be fed while nothing is broadcast") { manager.count("WATCHDOG=1") >= 3 }
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try waitFor("the encoder to hang", within: 20, evidence: { daemon.process.errorTail }) {
                try client.send(NumberedPictures.landscape(1), pts: playback.now)
                return daemon.log.contains("a thread hangs")
            }
            let fed = manager.count("WATCHDOG=1")
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 503 && health.body.contains("video thread"), "\(health)")
            // Three of its turns, by its own clock.
            func uptime() throws -> Int { try #require(try daemon.status()["uptime_ms"] as? Int) }
            let before = try uptime()
            try waitFor("1.6 s of the daemon's time") { try uptime() >= before + 1600 }
            #expect(manager.count("WATCHDOG=1") == fed)
            // It cannot end in order, and ends all the same: 3 s to drain, 5 to close.
            #expect(try daemon.terminate(within: 20) == .code(70), "\(daemon.process.errorTail)")
            try daemon.waitForLog("not stopped in time")
            try server.stop()
        }
    }

    /// A server that takes its time, a screen that stands still, a client that says nothing: none of it is a hang.
    @Test(.inItsTurn) func aServerThatDoesNotAnswer() async throws {
        try await blocking {
            let manager = try ServiceManager()
            let server = try SilentServer()
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:\(server.port)/live")
            settings.destinations[0].fields["handshake_timeout_ms"] = "60000"
            settings.stop["drain_ms"] = "200"
            let daemon = try Daemon(
                settings, environment: manager.environment.merging(["WATCHDOG_USEC": "4000000"]) { $1 })
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try client.send(NumberedPictures.landscape(1), pts: .seconds(1))
            // Two seconds in one piece of work would be a hang.
            let before = manager.count("WATCHDOG=1")
            try waitFor("the watchdog to be fed on", evidence: { daemon.process.errorTail }) {
                manager.count("WATCHDOG=1") >= before + 9
            }
            #expect(!daemon.log.contains("hangs"), "\(daemon.log)")
            #expect(try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket).status == 200)
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
            withExtendedLifetime((client, server)) {}
        }
    }

    /// A hook that means nothing is no reason to run without it.
    @Test(.inItsTurn) func aHookThatMeansNothing() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("hook")
            let daemon = try ChildProcess(
                ProductExecutable.upcastd.path, [],
                environment: [
                    "UPCAST_DESTINATIONS_0_URL": "file:\(folder.file("out.flv"))",
                    "UPCAST_INGEST_SOCKET": folder.file("capture.sock"),
                    "UPCAST_CONTROL_SOCKET": folder.file("control.sock"), "UPCAST_TEST_FREEZE": "network:1",
                ])
            #expect(daemon.waitForExit(within: 20) == .code(78), "\(daemon.errorTail)")
            #expect(daemon.errors.contains("test hook"), "\(daemon.errors)")
        }
    }
}
