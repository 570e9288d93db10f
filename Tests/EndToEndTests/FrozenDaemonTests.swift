import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: a daemon that stands still keeps no client from ending, and its standstill ends no broadcast.
@Suite struct FrozenDaemonTests {
    /// A screen with sound, which fills the socket of a daemon that does not read, and a client that sends both.
    private struct Broadcast {
        let screen: VirtualScreen
        let sound: VirtualSound
        let stage: Stage
        let client: ChildProcess
        let colour: ChildProcess

        init(waits: Bool = true) throws {
            (screen, sound) = (try VirtualScreen(width: 640, height: 360), try VirtualSound())
            colour = try screen.fill("0xc08040")
            stage = try Stage()
            if !waits { stage.daemon.process.signal(SIGSTOP) }
            client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                ["--display", screen.display, "--socket", stage.daemon.ingestSocket, "--sound", "default"],
                environment: sound.environment)
            guard waits else { return }
            try stage.waitUntilLive(client)
            try waitFor("sound", evidence: { client.errorTail }) {
                client.errors.contains("app audio is sink.monitor")
            }
            // Twice as long as the daemon takes to tell its first counters.
            let stage = stage
            let begin = try Self.uptime(stage)
            try waitFor("counters", evidence: { stage.daemon.log }) { try Self.uptime(stage) > begin + 2000 }
        }

        private static func uptime(_ stage: Stage) throws -> Int {
            try stage.daemon.status()["uptime_ms"] as? Int ?? 0
        }

        func thaw() throws {
            stage.daemon.process.signal(SIGCONT)
            try colour.stop(SIGKILL)
        }
    }

    /// How long a process takes to end.
    private static func secondsToEnd(_ process: ChildProcess, _ numbers: [CInt]) throws -> Double {
        let clock = MonotonicClock()
        let begin = clock.now()
        for number in numbers { process.signal(number) }
        guard process.waitForExit(within: 40) != nil else {
            throw TestFailure("it has not ended. \(process.errorTail)")
        }
        return Double((clock.now() - begin).milliseconds) / 1000
    }

    /// At once, and after the socket is full and each thread of the client waits for the daemon.
    @Test(.inItsTurn, arguments: [false, true]) func theScreenEnds(isFull: Bool) async throws {
        try await blocking {
            let broadcast = try Broadcast()
            broadcast.stage.daemon.process.signal(SIGSTOP)
            if isFull {
                try waitFor("the user to be told", evidence: { broadcast.client.errorTail }) {
                    broadcast.client.errors.contains("upcastd has said nothing for 5 s")
                }
            }
            let seconds = try Self.secondsToEnd(broadcast.client, [SIGTERM])
            #expect(seconds < 3, "\(seconds) s. \(broadcast.client.errorTail)")
            #expect(broadcast.client.waitForExit(within: 1) == .code(0))
            #expect(broadcast.client.errors.contains("upcastd does not answer"), "\(broadcast.client.errors)")
            try broadcast.thaw()
            _ = try broadcast.stage.server.finishedRecording()
            try broadcast.stage.end()
        }
    }

    @Test(.inItsTurn) func aSecondSignalEndsTheScreenAtOnce() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            broadcast.stage.daemon.process.signal(SIGSTOP)
            broadcast.client.signal(SIGINT)
            // Two within 0.2 s are one.
            usleep(700_000)
            let seconds = try Self.secondsToEnd(broadcast.client, [SIGINT])
            #expect(seconds < 1, "\(seconds) s. \(broadcast.client.errorTail)")
            #expect(broadcast.client.waitForExit(within: 1) == .signal(Int(SIGINT)))
            try broadcast.thaw()
            _ = try broadcast.stage.server.finishedRecording()
            try broadcast.stage.end()
        }
    }

    /// The daemon has taken the connection, and has not answered.
    @Test(.inItsTurn) func theScreenEndsWhileItConnects() async throws {
        try await blocking {
            let broadcast = try Broadcast(waits: false)
            try waitFor("the client to wait for its sound", evidence: { broadcast.client.errorTail }) {
                broadcast.client.errors.contains("app audio is sink.monitor")
            }
            let seconds = try Self.secondsToEnd(broadcast.client, [SIGTERM])
            #expect(seconds < 2.5, "\(seconds) s. \(broadcast.client.errorTail)")
            #expect(broadcast.client.waitForExit(within: 1) == .code(0))
            try broadcast.thaw()
            try broadcast.stage.end()
        }
    }

    enum Program: CaseIterable { case screen, sender }

    /// Bug: nothing was said for ten seconds; SIGINT was lost where a shell script had started `upcast-send` with `&`;
    /// and when the daemon went on, it began a broadcast for a client that had gone.
    @Test(.inItsTurn, arguments: Program.allCases)
    func aDaemonThatStandsStillFromTheStart(_ program: Program) async throws {
        try await blocking {
            let (screen, stage) = (try VirtualScreen(width: 640, height: 360), try Stage())
            let socket = stage.daemon.ingestSocket
            let command =
                switch program {
                case .screen: [try ProductExecutable.upcastScreen.path, "--display", screen.display, "--sound", "none"]
                case .sender: [try ProductExecutable.upcastSend.path]
                }
            stage.daemon.process.signal(SIGSTOP)
            // As a shell starts what stands before `&`.
            let arguments = ["-c", "trap '' INT; exec \"$@\"", "sh"] + command + ["--socket", socket]
            let client = try ChildProcess("sh", arguments)
            try waitFor("the user to be told", within: 8, evidence: { client.errorTail }) {
                client.errors.contains("upcastd at \(socket) has not answered for 3 s: it is stopped, or hangs")
            }
            let seconds = try Self.secondsToEnd(client, [SIGINT])
            #expect(seconds < 2, "\(seconds) s. \(client.errorTail)")
            #expect(client.waitForExit(within: 1) == .code(0))
            stage.daemon.process.signal(SIGCONT)
            // It is the first one that the daemon broadcasts.
            let next = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", socket, "--name", "second", "--seconds", "1"])
            #expect(next.waitForExit(within: 30) == .code(0), "\(next.errorTail)")
            _ = try stage.server.finishedRecording()
            #expect(stage.server.recordings.count == 1)
            try stage.daemon.waitForLog("broadcast started")
            let broadcasts = stage.daemon.log.components(separatedBy: "broadcast started").count - 1
            #expect(broadcasts == 1, "\(stage.daemon.log)")
            try stage.end()
        }
    }

    @Test(.inItsTurn) func aDaemonThatNeverAnswers() async throws {
        try await blocking {
            let (screen, stage) = (try VirtualScreen(width: 640, height: 360), try Stage())
            stage.daemon.process.signal(SIGSTOP)
            let screenClient = try stage.capture(screen, ["--sound", "none"])
            let sender = try ChildProcess(ProductExecutable.upcastSend.path, ["--socket", stage.daemon.ingestSocket])
            for client in [screenClient, sender] {
                #expect(client.waitForExit(within: 20) == .code(2), "\(client.errorTail)")
                let end = "did not answer within 10 s: it is stopped, or hangs; restart it\n"
                #expect(client.errors.hasSuffix(end), "\(client.errors)")
            }
            stage.daemon.process.signal(SIGCONT)
            try stage.end()
        }
    }

    /// Nothing has been broadcast: the program waits for the header of a pipe.
    @Test(.inItsTurn) func aSenderEndsWhileItWaitsForItsInput() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("pipe")
            let pipe = folder.file("in.nut")
            guard mkfifo(pipe, 0o600) == 0 else { throw TestFailure("cannot make a pipe") }
            // Open for both: it waits for neither, and the reader sees no end.
            let writer = open(pipe, O_RDWR | O_CLOEXEC)
            defer { close(writer) }
            let client = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", folder.file("none.sock"), pipe])
            let reads = "/proc/\(client.processID)/fd"
            try waitFor("the pipe to be open", evidence: { client.errorTail }) {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: reads)) ?? []
                return names.contains {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(reads)/\($0)")) == pipe
                }
            }
            let seconds = try Self.secondsToEnd(client, [SIGINT])
            #expect(seconds < 2, "\(seconds) s. \(client.errorTail)")
            #expect(client.waitForExit(within: 1) == .code(0), "\(client.errorTail)")
            #expect(client.errors.isEmpty, "\(client.errors)")
        }
    }

    /// The daemon stands still until the user knows, and for longer than any limit. Then the broadcast goes on.
    private func standStill(_ stage: Stage, _ client: ChildProcess) throws {
        stage.daemon.process.signal(SIGSTOP)
        try waitFor("the user to be told", evidence: { client.errorTail }) {
            client.errors.contains("upcastd has said nothing for 5 s")
        }
        // What must not end does so in this time, or it does not: no event tells.
        Thread.sleep(forTimeInterval: 9)
        stage.daemon.process.signal(SIGCONT)
        try waitFor("the broadcast to go on", evidence: { client.errorTail + stage.daemon.log }) {
            client.errors.contains("upcastd goes on")
        }
    }

    /// Bug: it was given up without a word.
    @Test(.inItsTurn) func aStandstillEndsNoBroadcastOfASender() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try ChildProcess(ProductExecutable.upcastSend.path, ["--socket", stage.daemon.ingestSocket])
            // Twice as long as the daemon takes to tell its first counters.
            try waitFor("counters", evidence: { client.errorTail + stage.daemon.log }) {
                try stage.daemon.receivedPictures() > 60
            }
            try standStill(stage, client)
            let before = try stage.daemon.receivedPictures()
            try waitFor("the next picture", evidence: { client.errorTail }) {
                try stage.daemon.receivedPictures() > before
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try stage.daemon.waitForLog("broadcast started")
            let broadcasts = stage.daemon.log.components(separatedBy: "broadcast started").count - 1
            #expect(broadcasts == 1, "\(stage.daemon.log)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// Nobody has stopped it: that its end is not confirmed is a failure.
    @Test(.inItsTurn, arguments: Program.allCases) func theTimeIsOver(_ program: Program) async throws {
        try await blocking {
            let (screen, stage) = (try VirtualScreen(width: 640, height: 360), try Stage())
            let client =
                switch program {
                case .screen: try stage.capture(screen, ["--seconds", "6", "--sound", "none"])
                case .sender:
                    try ChildProcess(
                        ProductExecutable.upcastSend.path, ["--socket", stage.daemon.ingestSocket, "--seconds", "6"])
                }
            try waitFor("the broadcast", evidence: { client.errorTail }) { try stage.daemon.receivedPictures() > 0 }
            stage.daemon.process.signal(SIGSTOP)
            #expect(client.waitForExit(within: 20) == .code(3), "\(client.errorTail)")
            #expect(client.errors.contains("upcastd does not answer"), "\(client.errors)")
            stage.daemon.process.signal(SIGCONT)
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    @Test(.inItsTurn) func aSenderEnds() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", stage.daemon.ingestSocket])
            try waitFor("the broadcast", while: client) {
                return try stage.daemon.receivedPictures() > 0
            }
            stage.daemon.process.signal(SIGSTOP)
            let seconds = try Self.secondsToEnd(client, [SIGTERM])
            #expect(seconds < 3, "\(seconds) s. \(client.errorTail)")
            #expect(client.waitForExit(within: 1) == .code(0))
            #expect(client.errors.contains("upcastd does not answer"), "\(client.errors)")
            stage.daemon.process.signal(SIGCONT)
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A terminal that closes sends SIGHUP, and its shell once more. With nohup, the broadcast goes on.
    @Test(.inItsTurn, arguments: [false, true]) func aTerminalThatCloses(isIgnored: Bool) async throws {
        try await blocking {
            let stage = try Stage()
            let client = try ChildProcess(
                "/bin/sh",
                [
                    "-c", (isIgnored ? "trap '' HUP; " : "") + "exec \"$0\" --socket \"$1\"",
                    ProductExecutable.upcastSend.path, stage.daemon.ingestSocket,
                ])
            let daemon = stage.daemon
            try waitFor("the broadcast", while: client) { try daemon.receivedPictures() > 0 }
            for _ in 0..<2 { client.signal(SIGHUP) }
            if isIgnored {
                let before = try daemon.receivedPictures()
                try waitFor("the broadcast to go on", while: client) { try daemon.receivedPictures() > before + 10 }
                client.signal(SIGTERM)
            }
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(!stage.daemon.log.contains("went away"), "\(stage.daemon.log)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A daemon that needs more than two seconds to send out what it has says so: the client waits for its goodbye.
    @Test(.inItsTurn) func aDaemonThatDrains() async throws {
        try await blocking {
            let (screen, server) = (try VirtualScreen(width: 640, height: 360), try StallingServer())
            let scene = try screen.fill("0xc08040")
            var settings = DaemonSettings()
            settings.stop = ["drain_ms": "5000"]
            settings.publish(to: "rtmp://127.0.0.1:\(server.port)/live")
            let daemon = try Daemon(settings)
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                ["--display", screen.display, "--socket", daemon.ingestSocket, "--sound", "none"])
            try waitFor("the broadcast", evidence: { client.errorTail + daemon.log }) {
                server.connections.contains { $0.isPublishing && $0.received > 0 }
            }
            server.stall()
            try waitFor("packets that are not sent", evidence: { client.errorTail + daemon.log }) {
                let destinations = try daemon.status()["destinations"] as? [[String: Any]]
                return destinations?.first?["backlog_ms"] as? Int ?? 0 > 1000
            }
            let seconds = try Self.secondsToEnd(client, [SIGTERM])
            #expect(seconds > 3, "\(seconds) s: it drained too little to show anything. \(client.errorTail)")
            #expect(!client.errors.contains("does not answer"), "\(client.errors)")
            try scene.stop(SIGKILL)
            _ = try daemon.terminate()
        }
    }

    /// The server reads nothing for a moment, in which the daemon stands still for longer than a send may take.
    @Test(.inItsTurn) func aStandstillBreaksNoConnection() async throws {
        try await blocking {
            let server = try StallingServer()
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:\(server.port)/live")
            let daemon = try Daemon(settings)
            let client = try ChildProcess(ProductExecutable.upcastSend.path, ["--socket", daemon.ingestSocket])
            try waitFor("the broadcast", evidence: { client.errorTail + daemon.log }) {
                server.connections.contains { $0.isPublishing && $0.received > 0 }
            }
            server.stall()
            try waitFor("packets that do not arrive", evidence: { client.errorTail + daemon.log }) {
                daemon.log.contains("state=impaired")
            }
            daemon.process.signal(SIGSTOP)
            // Longer than `send_timeout_ms`; nothing tells when that is over.
            Thread.sleep(forTimeInterval: 7)
            daemon.process.signal(SIGCONT)
            let uptime = try daemon.status()["uptime_ms"] as? Int ?? 0
            // Several looks of the daemon at its link.
            try waitFor("the daemon to run", evidence: { daemon.log }) {
                try daemon.status()["uptime_ms"] as? Int ?? 0 > uptime + 500
            }
            let before = server.connections.first?.received ?? 0
            server.resume()
            try waitFor("the next packets", evidence: { daemon.log }) {
                server.connections.first?.received ?? 0 > before + 10_000
            }
            #expect(server.connections.count == 1, "\(daemon.log)")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            _ = try daemon.terminate()
        }
    }

    /// Longer than any limit of the daemon's: it has not run, and its client is not late.
    @Test(.inItsTurn) func aStandstillEndsNoBroadcast() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let (stage, client) = (broadcast.stage, broadcast.client)
            try standStill(stage, client)
            let before = try stage.daemon.receivedPictures()
            let change = try broadcast.screen.fill("white")
            try waitFor("the next picture", evidence: { client.errorTail }) {
                try stage.daemon.receivedPictures() > before
            }
            try change.stop(SIGKILL)
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try stage.daemon.waitForLog("broadcast started")
            let broadcasts = stage.daemon.log.components(separatedBy: "broadcast started").count - 1
            #expect(broadcasts == 1, "\(stage.daemon.log)")
            #expect(stage.server.recordings.count == 1, "\(stage.daemon.log)")
            try broadcast.colour.stop(SIGKILL)
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }
}
