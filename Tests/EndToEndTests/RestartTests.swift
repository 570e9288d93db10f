import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing
import UpcastPrivacy

/// Promise: a restart forgets nothing of what is hidden, however the last daemon ended; and where nobody knows what was
/// hidden, everything is.
@Suite struct RestartTests {
    private static let secret = RawSample(RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1)), format: .i420)
    private static let grey = RawSample(RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5)), format: .i420)
    /// Grey, with something private in its right half.
    private static let half: RawSample = {
        var image = RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5))
        for y in 40..<140 { for x in 200..<280 { image[x, y] = RGB(1, 0, 1) } }
        return RawSample(image, format: .i420)
    }()

    private static func isPrivate(_ image: I420Image) -> Bool { image.u.contains { $0 > 150 } }
    private static func isGrey(_ image: I420Image) -> Bool { image.y.contains { $0 > 90 } }

    private func settings(_ folder: TemporaryDirectory, _ recording: String) -> DaemonSettings {
        var settings = DaemonSettings()
        settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file(recording)]))
        settings.privacy["state_file"] = folder.file("state.json")
        return settings
    }

    @discardableResult
    private func ask(
        _ daemon: Daemon, _ method: String, _ path: String, _ body: String = "", expect status: Int = 200
    ) throws -> [String: Any] {
        let answer = try UnixHTTPClient.ask(method, path, body: body, socket: daemon.controlSocket)
        #expect(answer.status == status, "\(method) \(path): \(answer)")
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
    }

    private struct Kept: Equatable {
        var holders: [String] = []
        var regions: [String] = []
        var off: [String] = []
    }

    private func kept(_ daemon: Daemon) throws -> Kept {
        let privacy = try #require(try daemon.status()["privacy"] as? [String: Any])
        let curtain = try #require(privacy["curtain"] as? [String: Any])
        let holders = try #require(curtain["holders"] as? [[String: Any]])
        let regions = try #require(privacy["regions"] as? [[String: Any]])
        let protections = try #require(privacy["protections"] as? [[String: Any]])
        return Kept(
            holders: holders.map { "\($0["holder"] ?? "") \($0["user"] ?? "") \($0["reason"] ?? "")" },
            regions: regions.map { "\($0["holder"] ?? "") \($0["name"] ?? "") \($0["width"] ?? "")" },
            off: protections.filter { $0["on"] as? Bool == false }.compactMap { $0["name"] as? String })
    }

    /// A client that begins to send at once, and goes on until `isDone`.
    private func send(_ sample: RawSample, to daemon: Daemon, until isDone: (Int) throws -> Bool) throws {
        let client = try CaptureClient(socket: daemon.ingestSocket)
        try client.start()
        let playback = Playback(client)
        var count = 0
        while try !isDone(count) {
            try client.send(sample, pts: playback.now)
            count += 1
            pause(until: MonotonicClock().now() + .milliseconds(33))
        }
        try client.finish()
    }

    /// Killed under an app's hold, a region, and a switch that a command has turned.
    @Test(.inItsTurn) func aDaemonThatIsKilledForgetsNothing() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("state")
            let first = try Daemon(settings(folder, "first.flv"))
            #expect(!first.log.contains("no state file"))
            try send(Self.grey, to: first) { count in try count > 5 && first.encodedPictures() > 3 }
            let app = CapturedApp(name: "kiosk", socket: first.controlSocket, timeout: .seconds(10))
            #expect(try app.raiseCurtain(reason: "password").isPersisted == true)
            let region = #"{"app": "kiosk", "name": "r", "x": 0.5, "y": 0, "width": 0.5, "height": 1}"#
            #expect(try ask(first, "POST", "/regions", region)["persisted"] as? Bool == true)
            let off = #"{"name": "capture_state", "on": false}"#
            #expect(try ask(first, "POST", "/protections", off)["persisted"] as? Bool == true)
            let before = try kept(first)
            #expect(before.holders.count == 1 && before.regions.count == 1 && before.off == ["capture_state"])
            try first.process.stop(SIGKILL)

            let second = try Daemon(settings(folder, "second.flv"))
            // A client that connects at once, while no app has come back.
            try send(Self.secret, to: second) { count in try count > 10 && second.encodedPictures() > 10 }
            #expect(try kept(second) == before)
            try second.waitForLog("state restored")
            try second.waitForLog("protection=capture_state")
            var frames = 0
            try DecodedVideo.forEachFrame(of: folder.file("second.flv")) { frame in
                frames += 1
                let isPrivate = Self.isPrivate(frame.image)
                #expect(!isPrivate, "\(frame.pts)")
            }
            #expect(frames > 5)
            // The app's next process lets go, and the region stays; so it does after a stop in order.
            let again = CapturedApp(name: "kiosk", socket: second.controlSocket, timeout: .seconds(10))
            #expect(try again.lowerCurtain() == .lowered)
            try second.terminate()
            let third = try Daemon(settings(folder, "third.flv"))
            #expect(try kept(third) == Kept(regions: before.regions, off: before.off))
            try send(Self.half, to: third) { count in try count > 20 && third.encodedPictures() > 20 }
            var grey = 0
            try DecodedVideo.forEachFrame(of: folder.file("third.flv")) { frame in
                if Self.isGrey(frame.image) { grey += 1 }
                let isPrivate = Self.isPrivate(frame.image)
                #expect(!isPrivate, "\(frame.pts)")
            }
            #expect(grey > 3, "nothing was shown")
            // A reload brings the switch to what the file says, and the next daemon knows nothing of it.
            third.process.signal(SIGHUP)
            try waitFor("the reload") { try kept(third).off.isEmpty }
            try ask(third, "DELETE", "/regions?app=kiosk")
            try third.process.stop(SIGKILL)
            let fourth = try Daemon(settings(folder, "fourth.flv"))
            #expect(try kept(fourth) == Kept())
            // The picture would be seen.
            try send(Self.half, to: fourth) { count in try count > 20 && fourth.encodedPictures() > 20 }
            var seen = 0
            try DecodedVideo.forEachFrame(of: folder.file("fourth.flv")) { frame in
                if Self.isPrivate(frame.image) { seen += 1 }
            }
            #expect(seen > 3)
            try fourth.terminate()
        }
    }

    @Test(.inItsTurn) func aStateThatCannotBeReadRaisesTheCurtain() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("state")
            try folder.write("{\"version\": 1, \"holds\": [{", to: "state.json")
            let first = try Daemon(settings(folder, "first.flv"))
            try first.waitForLog("state file cannot be read")
            try first.waitForLog("curtain down --force")
            #expect(
                try String(contentsOfFile: folder.file("state.json.unreadable"), encoding: .utf8)
                    == "{\"version\": 1, \"holds\": [{")
            #expect(try kept(first).holders.map { $0.hasPrefix("daemon:state_unreadable") } == [true])
            try send(Self.secret, to: first) { count in try count > 10 && first.encodedPictures() > 10 }
            try DecodedVideo.forEachFrame(of: folder.file("first.flv")) { frame in
                let isPrivate = Self.isPrivate(frame.image)
                #expect(!isPrivate, "\(frame.pts)")
            }
            // Nobody has decided anything: the next daemon knows as little.
            try waitFor("the state file") { FileManager.default.fileExists(atPath: folder.file("state.json")) }
            try first.process.stop(SIGKILL)
            let second = try Daemon(settings(folder, "second.flv"))
            #expect(try kept(second).holders.map { $0.hasPrefix("daemon:state_unreadable") } == [true])
            let down = try ask(second, "POST", "/curtain/down", #"{"force": true}"#)
            #expect(down["up"] as? Bool == false && down["persisted"] as? Bool == true)
            try second.process.stop(SIGKILL)
            let third = try Daemon(settings(folder, "third.flv"))
            #expect(try kept(third) == Kept())
            try third.terminate()
        }
    }

    /// What `persisted` says is so also where the file was there before, and a second daemon does not take it over.
    @Test(.inItsTurn) func aFileThatIsDeletedIsWrittenAgainAndOnlyByOneDaemon() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("state")
            let daemon = try Daemon(settings(folder, "first.flv"))
            let hold = #"{"app": "kiosk"}"#
            #expect(try ask(daemon, "POST", "/curtain/up", hold)["persisted"] as? Bool == true)
            try FileManager.default.removeItem(atPath: folder.file("state.json"))
            #expect(try ask(daemon, "POST", "/curtain/up", hold)["persisted"] as? Bool == true)
            #expect(FileManager.default.fileExists(atPath: folder.file("state.json")))
            let failure = #expect(throws: (any Error).self) { _ = try Daemon(settings(folder, "second.flv")) }
            let sentence = "another process has locked \(folder.file("state.json")).lock"
            #expect("\(failure.map { "\($0)" } ?? "")".contains(sentence))
            try daemon.process.stop(SIGKILL)
            let second = try Daemon(settings(folder, "second.flv"))
            #expect(try kept(second).holders.count == 1)
            try second.terminate()
        }
    }

    /// The curtain is up, and the answer says that a restart would forget it.
    @Test(.inItsTurn) func aDiskThatFailsIsSaid() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("state")
            let inner = folder.file("inner")
            try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
            var settings = settings(folder, "out.flv")
            settings.privacy["state_file"] = inner + "/state.json"
            let daemon = try Daemon(settings)
            #expect(try ask(daemon, "POST", "/curtain/up")["persisted"] as? Bool == true)
            try FileManager.default.moveItem(atPath: inner, toPath: inner + ".gone")
            let up = try ask(daemon, "POST", "/curtain/up", #"{"app": "a"}"#)
            #expect(up["persisted"] as? Bool == false && up["up"] as? Bool == true)
            #expect(try kept(daemon).holders.count == 2)
            try waitFor("the log to say so") { daemon.log.contains("state file not written") }
            try FileManager.default.moveItem(atPath: inner + ".gone", toPath: inner)
            try waitFor("the next try") { daemon.log.contains("state file written again") }
            let text = try String(contentsOfFile: inner + "/state.json", encoding: .utf8)
            #expect(text.contains("\"a\""))
            try daemon.terminate()
        }
    }

    @Test(.inItsTurn) func withoutAStateFileTheFirstLineSaysWhatEnds() async throws {
        try await blocking {
            var settings = DaemonSettings()
            let folder = try TemporaryDirectory("state")
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(settings)
            try daemon.waitForLog("\n")
            let line = daemon.log.split(separator: "\n").first ?? ""
            #expect(line.contains("no state file") && line.contains("end with this daemon"), "\(line)")
            let answer = try ask(daemon, "POST", "/curtain/up")
            #expect(answer["persisted"] is NSNull)
            try daemon.terminate()
            // A folder that is not there is no state file either, and the daemon does not pretend.
            settings.privacy["state_file"] = folder.file("none/state.json")
            let failure = #expect(throws: (any Error).self) { _ = try Daemon(settings) }
            #expect("\(failure.map { "\($0)" } ?? "")".contains("privacy.state_file: cannot write to the folder"))
        }
    }
}
