import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing
import UpcastPrivacy

/// Promise: a daemon that is killed and started anew under an app that is consulted waits for the app to come back, and
/// shows nothing before it has answered; for one that does not come back it does not wait without end.
@Suite struct ConsultedRestartTests {
    private static let marker = RawSample(RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1)), format: .i420)

    private func settings(_ folder: TemporaryDirectory) -> DaemonSettings {
        var settings = DaemonSettings(width: 320, height: 180)
        settings.destinations = [(name: "file", fields: ["url": "file:" + folder.file("out.flv")])]
        settings.privacy["state_file"] = folder.file("state.json")
        // Otherwise pictures wait for sound, and whoever raises the curtain meanwhile takes them back.
        settings.buffer["interleave"] = "low_latency"
        return settings
    }

    private func waitForStateFile(_ folder: TemporaryDirectory) throws {
        try waitFor("the state file") {
            let text = try? String(contentsOfFile: folder.file("state.json"), encoding: .utf8)
            return text?.contains("kiosk") == true
        }
    }

    /// Removes the recordings and says how many private pictures they had.
    private func takeRecordings(_ folder: TemporaryDirectory) throws -> Int {
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".flv") {
            count += try colored(folder.file(name))
            try FileManager.default.removeItem(atPath: folder.file(name))
        }
        return count
    }

    private func colored(_ path: String) throws -> Int {
        // A daemon that was killed early leaves a file without anything.
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        guard size > 256, try MediaProbe.packets(path).contains(where: { $0.track == "video" }) else { return 0 }
        var colored = 0
        try DecodedVideo.forEachFrame(of: path) { if $0.image.u.contains(where: { $0 > 150 }) { colored += 1 } }
        return colored
    }

    private static var rounds: Int {
        let wanted = ProcessInfo.processInfo.environment["UPCAST_CAPTURES"].flatMap { Int($0) }
        return wanted.map { max(4, $0 / 10) } ?? 4
    }

    /// The client connects as soon as there is a capture socket, and sends at once.
    @Test(.timeLimit(.minutes(TimeLimitTrait.turn + rounds / 5)))
    func whoReactsLeaksNothingUnderARestart() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("restarts")
            var daemon = try Daemon(settings(folder))
            let app = CapturedApp(name: "kiosk", socket: daemon.controlSocket, timeout: .seconds(10))
            let raised = Monitor(0)
            let monitor = try CaptureStateMonitor(app: "kiosk", socket: daemon.controlSocket) { state in
                switch state {
                case .captured:
                    try app.raiseCurtain()
                    raised.signal { $0 += 1 }
                case .notCaptured: try app.lowerCurtain()
                case .unknown: break
                }
            }
            var leaked = 0
            for round in 0..<Self.rounds {
                try waitFor("the app") { monitor.state == .notCaptured }
                try waitForStateFile(folder)
                let isHolding = round % 2 == 1
                let before = raised.withLock { $0 }
                var first: CaptureClient?
                if isHolding {
                    first = try CaptureClient(socket: daemon.ingestSocket)
                    try first?.start()
                    _ = raised.wait(until: Patience.deadline(15)) { $0 > before ? true : nil }
                }
                try daemon.process.stop(SIGKILL)
                daemon = try Daemon(after: daemon, waits: false)
                // Before the app, whose monitor pauses between two attempts.
                let client = try waitFor("the capture socket") { try? CaptureClient(socket: daemon.ingestSocket) }
                try client.start()
                let wanted = before + (isHolding ? 2 : 1)
                var pictures: Int64 = 0
                // Until some time after the app has reacted.
                var left = 10
                while left > 0, pictures < 1000 {
                    try client.send(Self.marker, pts: .milliseconds(pictures * 10))
                    pictures += 1
                    usleep(10_000)
                    if raised.withLock({ $0 }) >= wanted { left -= 1 }
                }
                #expect(left == 0, "the app was not told in round \(round): \(daemon.log)")
                try client.finish()
                leaked += try takeRecordings(folder)
            }
            print("\(Self.rounds) restarts under an app that raises the curtain: \(leaked) private pictures")
            #expect(leaked == 0)
            monitor.stop()
            try daemon.terminate()
        }
    }

    /// The app comes back when packets have been written, and nothing of them could be taken back any more.
    @Test(.inItsTurn) func whoComesBackLateLeaksNothing() async throws {
        try await blocking {
            // A busy machine may take longer than the daemon waits.
            let isDone = try (0..<5).contains { _ in try comesBackLate() }
            #expect(isDone, "the app was given up each time")
        }
    }

    /// False where the daemon has given the app up before it was back.
    private func comesBackLate() throws -> Bool {
        let folder = try TemporaryDirectory("restarts")
        let first = try Daemon(settings(folder))
        let app = CapturedApp(name: "kiosk", socket: first.controlSocket, timeout: .seconds(10))
        let raised = Monitor(false)
        func watch() throws -> CaptureStateMonitor {
            try CaptureStateMonitor(app: "kiosk", socket: first.controlSocket) { state in
                guard case .captured = state else { return }
                try app.raiseCurtain()
                raised.signal { $0 = true }
            }
        }
        let before = try watch()
        try waitForStateFile(folder)
        try first.process.stop(SIGKILL)
        before.stop()
        let daemon = try Daemon(after: first)
        let client = try CaptureClient(socket: daemon.ingestSocket)
        try client.start(tracks: .video)
        let playback = Playback(client)
        func show() throws {
            try client.send(Self.marker, pts: playback.now)
            pause(until: MonotonicClock().now() + .milliseconds(20))
        }
        try waitFor("packets to be written", evidence: { daemon.log }) {
            try show()
            let destinations = try daemon.status()["destinations"] as? [[String: Any]]
            return destinations?.first?["packets_sent"] as? Int ?? 0 >= 10
        }
        let state = try UnixHTTPClient.get("/state", socket: daemon.controlSocket).body
        let after = try watch()
        try waitFor("the app to be told", evidence: { daemon.log }) {
            try show()
            return raised.withLock { $0 }
        }
        for _ in 0..<10 { try show() }
        try client.finish()
        after.stop()
        try daemon.terminate()
        guard !daemon.log.contains("consulted app has not come back") else { return false }
        #expect(state.contains(#""waiting_for":["app:kiosk"]"#), "\(state)")
        let leaked = try takeRecordings(folder)
        #expect(leaked == 0, "\(leaked) private pictures")
        return true
    }

    /// From its first event on an app may rely on being waited for, whatever ends the daemon.
    @Test(.inItsTurn) func whoIsToldIsInTheStateFile() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("restarts")
            for round in 1...5 {
                let daemon = try Daemon(settings(folder))
                let process = daemon.process.processID
                let app = try StateStream("?app=kiosk\(round)&consult=true", socket: daemon.controlSocket) { _ in
                    kill(process, SIGKILL)
                }
                #expect(try app.wait(for: 1).isPersisted == true)
                _ = daemon.process.waitForExit(within: 15)
                let file = try String(contentsOfFile: folder.file("state.json"), encoding: .utf8)
                #expect(file.contains("\"kiosk\(round)\""), "round \(round): \(file)")
            }
        }
    }

    /// Not for one that has ended with the daemon.
    @Test(.inItsTurn) func whoDoesNotComeBackIsGivenUp() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("restarts")
            let first = try Daemon(settings(folder))
            let app = try StateStream("?app=kiosk&consult=true", socket: first.controlSocket)
            #expect(try app.wait(for: 1).isPersisted == true)
            try first.process.stop(SIGKILL)
            let second = try Daemon(after: first)
            let client = try CaptureClient(socket: second.ingestSocket)
            try client.start()
            func isAwaited() throws -> Bool {
                let state = try UnixHTTPClient.get("/state", socket: second.controlSocket).body
                return state.contains(#""waiting_for":["app:kiosk"]"#)
            }
            #expect(try isAwaited(), "\(second.log)")
            try waitFor("it to be given up", evidence: { second.log }) { try !isAwaited() }
            try waitFor("the log to say so", evidence: { second.log }) {
                second.log.contains("consulted app has not come back")
            }
            try client.finish()
            try second.terminate()
        }
    }
}
