import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing
import UpcastPrivacy

/// Promise: while an app is consulted, the start curtain of a broadcast stays up until it has answered, for as long as
/// its connection lives, and unless an operator says otherwise; everybody can see whom it waits for.
@Suite struct ConsultingTests {
    private static let grey = RawSample(RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5)), format: .i420)

    private func ask(
        _ daemon: Daemon, _ method: String, _ path: String, _ body: String = "", expect status: Int = 200
    ) throws -> [String: Any] {
        let answer = try UnixHTTPClient.ask(method, path, body: body, socket: daemon.controlSocket)
        #expect(answer.status == status, "\(method) \(path): \(answer)")
        return try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any] ?? [:]
    }

    private func holders(_ daemon: Daemon) throws -> [String] {
        let privacy = try daemon.status()["privacy"] as? [String: Any]
        let curtain = privacy?["curtain"] as? [String: Any]
        return (curtain?["holders"] as? [[String: Any]] ?? []).map {
            $0["holder"] as? String == "daemon:consulting"
                ? "consulting, \($0["reason"] ?? "")" : $0["holder"] as? String ?? ""
        }
    }

    /// Begins a broadcast that is waited for, and ends it when `body` has returned.
    private func capture(_ daemon: Daemon, _ app: StateStream, _ body: (Playback, Int) throws -> Void) throws {
        let before = app.events.count
        let client = try CaptureClient(socket: daemon.ingestSocket)
        try client.start()
        let playback = Playback(client)
        try client.send(Self.grey, pts: playback.now)
        let event = try app.wait(for: before + 1)
        #expect(event.isCaptured && event.waitingFor == ["app:kiosk"], "\(event)")
        #expect(
            try holders(daemon) == ["daemon:start", "consulting, waits for the answer of app:kiosk"],
            "\(daemon.log)")
        try body(playback, event.capture)
        try client.finish()
        #expect(try holders(daemon).filter { $0.hasPrefix("consulting") } == [])
        try app.wait(for: before + 2)
    }

    /// Pictures are shown from here on.
    private func isShown(_ daemon: Daemon, _ playback: Playback) throws {
        try waitFor("the curtain to fall", evidence: { daemon.log }) {
            try playback.client.send(Self.grey, pts: playback.now)
            return try holders(daemon) == []
        }
    }

    private func settings(_ folder: TemporaryDirectory) -> DaemonSettings {
        var settings = DaemonSettings(width: 320, height: 180)
        settings.destinations = [(name: "file", fields: ["url": "file:" + folder.file("out.flv")])]
        settings.privacy["audit_file"] = folder.file("audit.json")
        return settings
    }

    @Test(.inItsTurn) func anAppAnswers() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("consulting")
            let daemon = try Daemon(settings(folder))
            let app = try StateStream("?app=kiosk&consult=true", socket: daemon.controlSocket)
            try app.wait(for: 1)
            var first = 0
            // A region, which stays.
            try capture(daemon, app) { playback, number in
                first = number
                let state = try ask(daemon, "GET", "/state")
                #expect(state["waiting_for"] as? [String] == ["app:kiosk"] && state["capture"] as? Int == number)
                // Another app's answer is none.
                _ = try ask(daemon, "POST", "/curtain/up", #"{"app": "other"}"#)
                _ = try ask(daemon, "POST", "/curtain/down", #"{"app": "other"}"#)
                #expect(try holders(daemon).count == 2)
                let region = #"{"app": "kiosk", "name": "r", "x": 0, "y": 0, "width": 0.1, "height": 0.1}"#
                _ = try ask(daemon, "POST", "/regions", region)
                try isShown(daemon, playback)
                #expect(try ask(daemon, "GET", "/state")["waiting_for"] as? [String] == [])
            }
            // Its own hold is there before the daemon's goes.
            try capture(daemon, app) { playback, number in
                #expect(number == first + 1)
                _ = try ask(daemon, "POST", "/curtain/up", #"{"app": "kiosk"}"#)
                #expect(try holders(daemon) == ["daemon:start", "app:kiosk"])
                _ = try ask(daemon, "POST", "/curtain/down", #"{"app": "kiosk"}"#)
                try isShown(daemon, playback)
            }
            // A late answer to the capture before is none to this one.
            try capture(daemon, app) { playback, number in
                let late = try ask(daemon, "POST", "/state/release", #"{"app": "kiosk", "capture": \#(number - 1)}"#)
                #expect(late["released"] as? Bool == false)
                _ = try ask(daemon, "POST", "/state/release", #"{"app": "kiosk"}"#, expect: 400)
                #expect(try holders(daemon).count == 2)
                let answer = try ask(daemon, "POST", "/state/release", #"{"app": "kiosk", "capture": \#(number)}"#)
                #expect(answer["released"] as? Bool == true)
                try isShown(daemon, playback)
            }
            func audit() throws -> String { try String(contentsOfFile: folder.file("audit.json"), encoding: .utf8) }
            for answer in ["hid a region", "raised the curtain", "released"] {
                try waitFor("\"\(answer)\" in the audit file", evidence: { (try? audit()) ?? "no file" }) {
                    try audit().contains(#""answer":"\#(answer)""#)
                }
            }
            #expect(try audit().contains(#""event":"consultation_answered","holder":"app:kiosk","#))
            #expect(try daemon.terminate() == .code(0))
        }
    }

    @Test(.inItsTurn) func nothingWaitsForEver() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("consulting")
            let daemon = try Daemon(settings(folder))
            let app = try StateStream("?app=kiosk&consult=release", socket: daemon.controlSocket)
            try app.wait(for: 1)
            // An operator's word for all, and his force.
            try capture(daemon, app) { playback, number in
                // This one says when it is done.
                let region = #"{"app": "kiosk", "name": "r", "x": 0, "y": 0, "width": 0.1, "height": 0.1}"#
                _ = try ask(daemon, "POST", "/regions", region)
                #expect(try holders(daemon).count == 2)
                let ctl = try ChildProcess(
                    ProductExecutable.upcastctl.path, ["curtain", "release", "--socket", daemon.controlSocket])
                #expect(ctl.waitForExit(within: 15) == .code(0), "\(ctl.errors)")
                try isShown(daemon, playback)
            }
            try capture(daemon, app) { playback, number in
                _ = try ask(daemon, "POST", "/curtain/down", #"{"force": true}"#)
                try isShown(daemon, playback)
                #expect(try ask(daemon, "GET", "/state")["waiting_for"] as? [String] == [])
            }
            // The app goes away without an answer.
            try capture(daemon, app) { playback, _ in
                let other = try StateStream(socket: daemon.controlSocket)
                #expect(try other.wait(for: 1).waitingFor == ["app:kiosk"])
                let again = try StateStream("?app=kiosk&consult=release", socket: daemon.controlSocket)
                try again.wait(for: 1)
                again.close()
                // It has another connection.
                try waitFor("one to be closed") { daemon.log.contains("app is no longer consulted") }
                #expect(try holders(daemon).count == 2)
                _ = try ask(daemon, "POST", "/state/release", "")
                try isShown(daemon, playback)
            }
            app.close()
            try waitFor("the app to be gone") {
                daemon.log.components(separatedBy: "app is no longer consulted").count == 3
            }
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            #expect(try holders(daemon) == ["daemon:start"])
            try client.finish()
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// A screen that stands still: its only picture comes while the daemon waits, and what the app then names is
    /// painted on it.
    @Test(.inItsTurn) func thePictureThatCameMeanwhileIsShown() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("consulting")
            var settings = settings(folder)
            settings.video["idle_repeat_ms"] = "250"
            let daemon = try Daemon(settings)
            let app = try StateStream("?app=kiosk&consult=true", socket: daemon.controlSocket)
            try app.wait(for: 1)
            var image = RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5))
            for y in 40..<140 { for x in 200..<280 { image[x, y] = RGB(1, 0, 1) } }
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try client.send(RawSample(image, format: .i420), pts: .zero)
            try waitFor("the picture") { try daemon.receivedPictures() == 1 }
            #expect(try holders(daemon).count == 2)
            let region = #"{"app": "kiosk", "name": "r", "x": 0.5, "y": 0, "width": 0.5, "height": 1}"#
            _ = try ask(daemon, "POST", "/regions", region)
            try waitFor("the curtain to fall", evidence: { daemon.log }) { try holders(daemon) == [] }
            let encoded = try daemon.encodedPictures()
            try waitFor("it to be encoded") { try daemon.encodedPictures() > encoded + 2 }
            try client.finish()
            var grey = 0
            try DecodedVideo.forEachFrame(of: folder.file("out.flv")) { frame in
                if frame.image.y.contains(where: { $0 > 90 }) { grey += 1 }
                #expect(!frame.image.u.contains { $0 > 150 }, "\(frame.pts)")
            }
            #expect(grey > 1)
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// One user's connections are bounded, and what is misspelt is not a watcher who is not asked.
    @Test(.inItsTurn) func whoMayBeConsulted() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("consulting")
            let daemon = try Daemon(settings(folder))
            for query in [
                "?consult=true", "?app=kiosk&consult=maybe", "?app=two%20words&consult=true", "?app=a&app=b", "?x=1",
                "?app=kiosk&consult",
            ] {
                _ = try ask(daemon, "GET", "/state/events\(query)", expect: 400)
            }
            let apps = try (0..<4).map {
                try StateStream("?app=app\($0)&consult=true", socket: daemon.controlSocket)
            }
            for app in apps { try app.wait(for: 1) }
            _ = try ask(daemon, "GET", "/state/events?app=more&consult=true", expect: 409)
            let watcher = try StateStream("?app=more", socket: daemon.controlSocket)
            try watcher.wait(for: 1)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            #expect(try watcher.wait(for: 2).waitingFor == ["app:app0", "app:app1", "app:app2", "app:app3"])
            for app in apps { app.close() }
            try waitFor("nobody to be waited for") { try holders(daemon) == ["daemon:start"] }
            try client.finish()
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// `UpcastPrivacy`: what its handler hides is hidden, and a handler that fails shows nothing.
    @Test(.inItsTurn) func theLibraryAnswersWhenItsHandlerHasReturned() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("consulting")
            let daemon = try Daemon(settings(folder))
            let app = CapturedApp(name: "kiosk", socket: daemon.controlSocket, timeout: .seconds(10))
            let count = Monitor(0)
            let monitor = try CaptureStateMonitor(app: "kiosk", socket: daemon.controlSocket) { state in
                guard case .captured = state else { return }
                try app.hide(.normalized(x: 0, y: 0, width: 0.5, height: 1), named: "left")
                try app.hide(.normalized(x: 0.5, y: 0, width: 0.5, height: 1), named: "right")
                let number = count.signal {
                    $0 += 1
                    return $0
                }
                if number == 2 { throw TestFailure("nothing can be hidden") }
            }
            try waitFor("the monitor") { monitor.state == .notCaptured }
            for number in 1...2 {
                let client = try CaptureClient(socket: daemon.ingestSocket)
                try client.start()
                let playback = Playback(client)
                if number == 1 {
                    try isShown(daemon, playback)
                } else {
                    _ = count.wait(until: Patience.deadline(15)) { $0 == 2 ? true : nil }
                    for _ in 0..<20 {
                        try client.send(Self.grey, pts: playback.now)
                        usleep(20_000)
                    }
                    #expect(try holders(daemon).count == 2)
                }
                try client.finish()
            }
            var frames = 0
            try DecodedVideo.forEachFrame(of: folder.file("out.flv")) { frame in
                frames += 1
                #expect(!frame.image.y.contains { $0 > 90 }, "\(frame.pts)")
            }
            #expect(frames > 0)
            monitor.stop()
            #expect(try daemon.terminate() == .code(0))
        }
    }
}
