import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: what an operator did wrong is said in words and at once, nothing hangs on it, and no secret is shown.
@Suite struct OperatorMistakeTests {
    private struct Check {
        let exit: ChildProcess.Exit?
        let output: String
        let errors: String
    }

    /// `upcastd --check-config` on a file with its sockets in `folder`.
    private func check(_ yaml: String, in folder: TemporaryDirectory, environment: [String: String] = [:]) throws
        -> Check
    {
        let sockets = "ingest:\n  socket: \(folder.file("a.sock"))\ncontrol:\n  socket: \(folder.file("b.sock"))\n"
        let path = try folder.write(sockets + yaml, to: "upcastd.yaml")
        let child = try ChildProcess(
            ProductExecutable.upcastd.path, ["--check-config", "--config", path], environment: environment)
        let exit = child.waitForExit(within: 15)
        return Check(exit: exit, output: child.output, errors: child.errors)
    }

    private let destination = "destinations:\n  - url: rtmp://127.0.0.1/live/key\n"

    @Test(.inItsTurn) func checkingOpensTheEncoders() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let right = try check(destination, in: folder)
            #expect(right.exit == .code(0) && right.output.hasPrefix("configuration is valid"), "\(right)")

            let unknown = try check(destination + "video:\n  encoder: libnothing\n", in: folder)
            #expect(unknown.exit == .code(78))
            #expect(
                unknown.errors.contains(
                    "upcastd.yaml:8:12: video.encoder: encoder libnothing is not in this libavcodec; it has "),
                "\(unknown)")
            #expect(unknown.errors.contains("libx264"))

            let options = try check(destination + "video:\n  encoder_options:\n    nonsense: 1\n", in: folder)
            #expect(options.exit == .code(78))
            #expect(
                options.errors.contains(
                    "upcastd.yaml:9:5: video.encoder_options: encoder libx264 refuses option nonsense=1"), "\(options)")
            // Everything at once: what the machine lacks beside what the encoder refuses.
            let both = try check(
                "destinations:\n  - url: rtmp://127.0.0.1/live\n    key_file: /nowhere\n"
                    + "video:\n  encoder: libnothing\n",
                in: folder)
            #expect(both.errors.split(separator: "\n").count == 2, "\(both)")
        }
    }

    /// One run names what the file has wrong and what this machine lacks, with the same words as one mistake alone.
    @Test(.inItsTurn) func checkingNamesAllMistakesInOneGo() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let secret = "s3cret-in-a-file"
            try folder.write("\n\(secret)\n", to: "key")
            try folder.write("no certificate\n", to: "ca.pem")
            let all = try check(
                """
                video:
                  widht: 640
                  fps: 30
                  bitrate: 4500k
                  encoder: libnothing
                  threads: many
                  vbv_ms: 2x
                audio:
                  sample_rate: 22050
                stop:
                  drain_ms: 2h
                log:
                  level: loud
                destinations:
                  - url: rtmps://127.0.0.1/live
                    key_file: \(folder.file("key"))
                    ca_file: \(folder.file("ca.pem"))
                    send_timeout: 2s
                  - name: second
                    url: http://127.0.0.1/live
                    login_file: /nowhere/login

                """, in: folder, environment: ["UPCAST_VIDEO_FIT": "cover", "UPCAST_LOGLEVEL": "debug"])
            #expect(all.exit == .code(78))
            for expected in [
                "unknown key \"widht\"; did you mean \"width\"?", "unknown key \"fps\"; did you mean \"frame_rate\"?",
                "unknown key \"bitrate\"; did you mean \"bitrate_kbps\"?",
                "encoder libnothing is not in this libavcodec",
                "video.threads: \"many\" is not", "video.vbv_ms: \"2x\" is not",
                "audio.sample_rate: \"22050\" is not",
                "stop.drain_ms: 2h is not allowed", "log.level: \"loud\" is not allowed",
                "key_file \(folder.file("key")) is empty", "ca.pem contains no certificate",
                "unknown key \"send_timeout\"; did you mean \"send_timeout_ms\"?",
                "destinations[1].url: names no RTMP server",
                "login_file /nowhere/login cannot be opened", "environment variable UPCAST_VIDEO_FIT: \"cover\" is not",
                "UPCAST_LOGLEVEL: unknown variable",
            ] {
                #expect(all.errors.contains(expected), "\(expected) is not in: \(all.errors)")
            }
            #expect(all.errors.split(separator: "\n").count == 16, "\(all.errors)")
            #expect(!all.errors.contains(secret))
            let lines = all.errors.matches(of: /upcastd\.yaml:([0-9]+):/).compactMap { Int($0.output.1) }
            #expect(lines == lines.sorted() && lines.count == 14, "in the order of the file")
        }
    }

    @Test(.inItsTurn) func aTextWithoutStructureIsOneMistake() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let broken = try check("video: {width: 640\n", in: folder)
            #expect(broken.exit == .code(78) && broken.errors.split(separator: "\n").count == 1, "\(broken)")
            let missing = try ChildProcess(
                ProductExecutable.upcastd.path, ["--check-config", "--config", "/nowhere.yaml"])
            #expect(missing.waitForExit(within: 15) == .code(78))
            #expect(
                missing.errors
                    == "upcastd: /nowhere.yaml: cannot be opened: No such file or directory; check the path and its "
                    + "permissions\n")
        }
    }

    /// 1080p on a machine with memory for it: the cap that suffices is among the ways out, and suffices.
    @Test(.inItsTurn) func aRefusedPlanNamesTheCapThatSuffices() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let video = "video: {width: 1920, height: 1080, bitrate_kbps: 6000k}\n"
            let refused = try check(destination + video, in: folder)
            #expect(refused.exit == .code(78))
            let caps = refused.errors.matches(of: /memory\.cap_bytes: ([0-9]+MiB) +sufficient/).map { "\($0.output.1)" }
            #expect(!caps.isEmpty, "\(refused.errors)")
            for cap in caps {
                let mended = try check(destination + video + "memory: {cap_bytes: \(cap)}\n", in: folder)
                #expect(mended.exit == .code(0), "\(cap): \(mended.errors)")
            }
        }
    }

    @Test(.inItsTurn, arguments: [
        ("up.yaml", "unknown argument up.yaml; did you mean --config up.yaml?"),
        ("--confg", "unknown argument --confg; did you mean \"--config\"?"),
        ("--check-confg=x", "unknown argument --check-confg=x; did you mean \"--check-config\"?"),
        ("--daemonize", "unknown argument --daemonize; --config FILE names a file, --help lists all options"),
    ])
    func anUnknownArgument(argument: String, expected: String) async throws {
        try await blocking {
            let child = try ChildProcess(ProductExecutable.upcastd.path, [argument])
            #expect(child.waitForExit(within: 15) == .code(64))
            #expect(child.errors == "upcastd: \(expected)\n")
        }
    }

    @Test(.inItsTurn) func checkingAsksForADestination() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let none = try check("", in: folder)
            #expect(none.exit == .code(78))
            #expect(
                none.errors
                    == "upcastd: no destination is configured; set destinations in the file, or "
                    + "UPCAST_DESTINATIONS_0_URL\n")
            let inEnvironment = try check(
                "", in: folder, environment: ["UPCAST_DESTINATIONS_0_URL": "rtmp://127.0.0.1/live/key"])
            #expect(inEnvironment.exit == .code(0), "\(inEnvironment)")
        }
    }

    /// A pipe that nobody writes to, where the key's file is expected: the check says so instead of waiting for a
    /// writer.
    @Test(.inItsTurn) func checkingAKeyFileThatIsAPipe() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let key = folder.file("key")
            try #require(mkfifo(key, 0o600) == 0)
            let pipe = try check("destinations:\n  - url: rtmp://127.0.0.1/live\n    key_file: \(key)\n", in: folder)
            #expect(pipe.exit == .code(78))
            #expect(
                pipe.errors.hasSuffix(
                    "upcastd.yaml:7:15: destinations[0].key_file: key_file \(key) is not a regular file; "
                        + "name a file, not a folder, pipe or device\n"), "\(pipe)")
        }
    }

    /// The same in a daemon that runs: its client is told, and once the operator has put a file there, it broadcasts.
    @Test(.inItsTurn) func aKeyFileThatIsAPipeIsMended() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("key")
            let key = folder.file("key")
            try #require(mkfifo(key, 0o600) == 0)
            let server = try NginxRTMP()
            var settings = DaemonSettings()
            settings.destinations = [(name: "main", fields: ["url": server.url, "key_file": key])]
            let daemon = try Daemon(settings)
            // Known from the start, in the log and to a readiness probe.
            let notReady = try UnixHTTPClient.get("/readyz", socket: daemon.controlSocket)
            #expect(notReady.status == 503 && notReady.body.contains("main: key_file \(key) is not a regular file"))
            try waitFor("the warning", evidence: { daemon.log }) {
                daemon.log.contains("warning destination not ready")
            }
            #expect(try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket).status == 200)

            let refused = try CaptureClient(socket: daemon.ingestSocket)
            // The daemon takes the client, finds that its only destination has no key, and says so.
            _ = try? refused.start()
            try refused.waitForEnd()
            #expect(refused.errors.map(\.code) == [.broadcastFailed])
            #expect(
                refused.errors.first?.text.contains(
                    "key_file \(key) is not a regular file; name a file, not a folder, pipe or device") == true,
                "\(refused.errors)")

            try #require(unlink(key) == 0)
            // The reason comes before what follows from it.
            try daemon.waitForLog("broadcast failed")
            let log = daemon.log
            let reason = try #require(log.firstRange(of: "destination failed"), "\(log)")
            let end = try #require(log.firstRange(of: "broadcast failed"), "\(log)")
            #expect(reason.lowerBound < end.lowerBound, "\(log)")
            try folder.write(DaemonSettings.streamKey + "\n", to: "key")
            try waitFor("the daemon to be ready by itself", evidence: { daemon.log }) {
                (try? UnixHTTPClient.get("/readyz", socket: daemon.controlSocket).status) == 200
            }
            try daemon.waitForLog("notice destination ready destination=main")
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try Playback(client).bringLive(NumberedPictures.landscape(1))
            let status = try daemon.statusText()
            try client.finish()
            let recording = try server.finishedRecording()
            #expect(recording.contains(DaemonSettings.streamKey), "the stream's name at the server is the key")
            let control = try ProductExecutable.upcastctl.path
            let shown = try ChildProcess.run(control, ["status", "--socket", daemon.controlSocket])
            let plan = try daemon.plan()
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
            for text in [status, shown, plan, daemon.log] {
                #expect(!text.contains(DaemonSettings.streamKey), "\(text)")
            }
        }
    }

    /// Nobody reads what the daemon writes on standard error, and the pipe is full: lines are lost, and counted where
    /// somebody reads again; no thread waits.
    @Test(.inItsTurn) func nobodyReadsTheLog() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("mute")
            let server = try NginxRTMP()
            let pipe = try Pipe()
            fill(pipe.writing.raw)
            let (capture, control) = (folder.file("capture.sock"), folder.file("control.sock"))
            let daemon = try ChildProcess(
                "sh", ["-c", "exec \"$0\" 2>&1", ProductExecutable.upcastd.path],
                environment: [
                    "UPCAST_INGEST_SOCKET": capture, "UPCAST_CONTROL_SOCKET": control, "UPCAST_VIDEO_WIDTH": "640",
                    "UPCAST_VIDEO_HEIGHT": "360", "UPCAST_DESTINATIONS_0_URL": server.url,
                    "UPCAST_DESTINATIONS_0_KEY_ENV": DaemonSettings.keyVariable,
                    DaemonSettings.keyVariable: DaemonSettings.streamKey,
                ], output: .descriptor(pipe.writing.raw))
            func broadcast() throws {
                let client = try CaptureClient(socket: capture)
                try client.start()
                for number in 0..<30 {
                    let message = AnnotatedMessage(key: "number", value: "\(number)")
                    try client.send { message.encode(sequence: $0, into: &$1) }
                }
                try Playback(client).bringLive(NumberedPictures.landscape(1))
                #expect(try client.finish().reason == .finished)
            }
            try waitFor("upcastd to answer") { (try? UnixHTTPClient.get("/status", socket: control)) != nil }
            try broadcast()
            #expect(try UnixHTTPClient.get("/status", socket: control).status == 200)

            let filler = read(pipe.reading.raw)
            #expect(!filler.contains("upcastd") && !filler.contains("broadcast"), "the pipe was not full")
            try broadcast()
            let log = read(pipe.reading.raw)
            let notice = /^\S+ warning log lines were lost because standard error was blocked count=([0-9]+)\n/
            let lost = try #require(log.firstMatch(of: notice), "\(log)")
            // Ready, started, ten annotations, and what comes with a destination.
            #expect(Int(lost.1) ?? 0 >= 12, "\(lost.0)")
            #expect(log.contains("broadcast started") && log.contains("broadcast ended"))
            #expect(log.ranges(of: "lines were lost").count == 1)
            #expect(try daemon.stop(SIGTERM, within: 15) == .code(0))
        }
    }

    /// Writes into a pipe until nothing more goes in, and leaves it blocking.
    private func fill(_ pipe: CInt) {
        let flags = fcntl(pipe, F_GETFL)
        _ = fcntl(pipe, F_SETFL, flags | O_NONBLOCK)
        let page = [UInt8](repeating: 0x2e, count: 4096)
        while write(pipe, page, page.count) > 0 {}
        while write(pipe, page, 1) > 0 {}
        _ = fcntl(pipe, F_SETFL, flags)
    }

    /// Reads what is in a pipe now.
    private func read(_ pipe: CInt) -> String {
        _ = fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | O_NONBLOCK)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(pipe, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
