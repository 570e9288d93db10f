import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing
import UpcastPrivacy

/// Promise: the captured app is told at any time whether it is captured, and never that it is not where that is not
/// certain; what it asks for is so when it has been answered, and stays when it dies.
@Suite struct CapturedAppTests {
    /// A monitor, and every state that it told.
    private final class Watched: Sendable {
        private let seen: Monitor<[CaptureState]>
        let monitor: CaptureStateMonitor

        init(_ daemon: Daemon) throws {
            let seen = Monitor<[CaptureState]>([])
            self.seen = seen
            monitor = try CaptureStateMonitor(app: nil, socket: daemon.controlSocket) { state in
                seen.signal { $0.append(state) }
            }
        }

        var states: [CaptureState] { seen.withLock { $0 } }

        /// Waits until `isIt` is told, beginning with the state number `from`; its number.
        @discardableResult
        func wait(for what: String, from: Int = 0, _ isIt: (CaptureState) -> Bool) throws -> Int {
            let found = seen.wait(until: Patience.deadline(15)) { states in
                states.indices.dropFirst(from).first { isIt(states[$0]) }
            }
            guard let found else { throw TestFailure("was not told of \(what): \(states)") }
            return found
        }
    }

    private func capture(_ state: CaptureState) -> Capture? {
        if case .captured(let capture) = state { capture } else { nil }
    }

    @Test(.inItsTurn) func aBroadcastComesAndGoes() async throws {
        try await blocking {
            let stage = try Stage()
            let watched = try Watched(stage.daemon)
            let follow = try ProductExecutable.upcastctl.path
            let people = try ChildProcess(follow, ["state", "--follow", "--socket", stage.daemon.controlSocket])
            let programs = try ChildProcess(
                follow, ["state", "--follow", "--json", "--socket", stage.daemon.controlSocket])
            try watched.wait(for: "nothing") { $0 == .notCaptured }
            try waitFor("the first lines") { people.output == "not captured\n" && !programs.output.isEmpty }
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let begin = try watched.wait(for: "a capture") { capture($0) != nil }
            let told = try #require(capture(watched.states[begin]))
            #expect(told.kind == .screen && told.client == "end-to-end test")
            #expect(abs(told.since.sinceEpoch / .seconds(1) - Date().timeIntervalSince1970) < Patience.scaled(15))
            #expect(watched.monitor.isCaptured)
            try playback.client.finish()
            try watched.wait(for: "its end", from: begin) { $0 == .notCaptured }
            #expect(!watched.monitor.isCaptured)
            // Nothing else has been told on the way.
            #expect(watched.states == [.notCaptured, .captured(told), .notCaptured])
            try waitFor("its end, on a terminal", evidence: { people.output + programs.output }) {
                people.output.split(separator: "\n").count == 3 && programs.output.split(separator: "\n").count == 3
            }
            #expect(people.output.contains("\ncaptured: screen by end-to-end test, for "))
            #expect(people.output.hasSuffix("\nnot captured\n"))
            let line = try #require(programs.output.split(separator: "\n").dropFirst().first)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let since = try #require(json["since"] as? Int64)
            #expect(json["captured"] as? Bool == true && told.since.sinceEpoch == .milliseconds(since))
            // The daemon goes: whoever reads along must not take the last line for the truth.
            try stage.daemon.terminate()
            try waitFor("a line that says so", evidence: { people.output + people.errors }) {
                people.output.hasSuffix("\nunknown; assume that the screen is captured\n")
                    && programs.output.hasSuffix("\n{\"captured\":null}\n")
            }
            try stage.server.stop()
        }
    }

    /// A captured app may not see anything else.
    @Test(.inItsTurn) func eventsCarryTheStateOnly() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let response = try UnixHTTPClient.stream("/state/events", socket: stage.daemon.controlSocket) {
                $0.components(separatedBy: ": alive\n").count > 2
            }
            #expect(response.mediaType == "text/event-stream")
            for line in response.body.split(whereSeparator: \.isNewline) where line.wholeMatch(of: /[0-9a-f]+/) == nil {
                let isKnown = ["id: 1", "event: state", ": alive"].contains(String(line)) || line.hasPrefix("data: {")
                #expect(isKnown, "\(line)")
                guard line.hasPrefix("data: ") else { continue }
                let json = try JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)) as? [String: Any]
                #expect(
                    Set(try #require(json).keys) == [
                        "captured", "kind", "client", "since", "for_ms", "capture", "waiting_for",
                    ])
            }
            try playback.client.finish()
            try stage.end()
        }
    }

    /// Killed, or stopped in order while it captures: the capture has certainly ended with its process.
    @Test(.inItsTurn, arguments: [SIGKILL, SIGTERM]) func theDaemonEnds(signal: CInt) async throws {
        try await blocking {
            let stage = try Stage()
            let watched = try Watched(stage.daemon)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let begin = try watched.wait(for: "a capture") { capture($0) != nil }
            stage.daemon.process.signal(signal)
            let exit = stage.daemon.process.waitForExit(within: 15)
            #expect(exit == (signal == SIGKILL ? .signal(9) : .code(0)), "\(stage.daemon.process.errorTail)")
            // One that ends in order says that the broadcast is over; nobody knows anything from there to its own end.
            try waitFor("certainty", evidence: { "\(watched.states)" }) { !watched.monitor.isCaptured }
            try watched.wait(for: "its end", from: begin) { $0 == .notCaptured }
            #expect(FileManager.default.fileExists(atPath: stage.daemon.controlSocket) == (signal == SIGKILL))
            _ = playback
            try stage.server.stop()
        }
    }

    @Test(.inItsTurn) func theDaemonHangs() async throws {
        try await blocking {
            let stage = try Stage()
            let watched = try Watched(stage.daemon)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let begin = try watched.wait(for: "a capture") { capture($0) != nil }
            stage.daemon.process.signal(SIGSTOP)
            let hangs = try watched.wait(for: "the silence", from: begin) { $0 == .unknown }
            #expect(watched.monitor.isCaptured)
            let app = CapturedApp(name: "kiosk", socket: stage.daemon.controlSocket, timeout: .milliseconds(300))
            do throws(UpcastPrivacyError) {
                try app.raiseCurtain()
                Issue.record("a daemon that hangs has answered")
            } catch {
                #expect(error.code == .timedOut, "\(error)")
            }
            stage.daemon.process.signal(SIGCONT)
            let again = try watched.wait(for: "the capture", from: hangs) { capture($0) != nil }
            #expect(watched.states[again] == watched.states[begin])
            #expect(!watched.states[begin...again].contains(.notCaptured))
            try playback.client.finish()
            try watched.wait(for: "its end", from: again) { $0 == .notCaptured }
            try stage.end()
        }
    }

    /// The names of those who hold the curtain up, and of the regions.
    private func held(_ daemon: Daemon) throws -> (holders: [String], regions: [String]) {
        let privacy = try #require(try daemon.status()["privacy"] as? [String: Any])
        let curtain = try #require(privacy["curtain"] as? [String: Any])
        let holders = try #require(curtain["holders"] as? [[String: Any]])
        let regions = try #require(privacy["regions"] as? [[String: Any]])
        return (
            holders.map { "\($0["holder"] ?? ""), \($0["reason"] ?? "")" },
            regions.map { "\($0["holder"] ?? "") \($0["name"] ?? "") \($0["unit"] ?? "")" }
        )
    }

    @Test(.inItsTurn) func whatAnAppAsksForIsSo() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let daemon = stage.daemon
            let app = CapturedApp(name: "kiosk", socket: daemon.controlSocket, timeout: .seconds(10))
            let receipt = try app.raiseCurtain(reason: "going away")
            #expect(try held(daemon).holders == ["app:kiosk, going away"])
            #expect(receipt.destinations.map(\.name) == ["main"])
            #expect(try #require(receipt.destinations.first).lastPTS != nil)
            // Nothing leaves meanwhile.
            let again = try app.raiseCurtain()
            #expect(again.destinations.count == 1)
            let other = CapturedApp(name: "other", socket: daemon.controlSocket, timeout: .seconds(10))
            try other.willResignActive()
            let first = try app.lowerCurtain()
            #expect(try first == .heldByOthers && held(daemon).holders == ["app:other, will resign active"])
            let last = try other.didBecomeActive()
            #expect(try last == .lowered && held(daemon).holders == [])

            try app.hide(.normalized(x: 0.1, y: 0.5, width: 0.3, height: 0.1), named: "password")
            try app.hide(.pixels(x: 1, y: 2, width: 3, height: 4), named: "pin")
            #expect(try held(daemon).regions == ["app:kiosk password normalized", "app:kiosk pin pixels"])
            let nothing = [
                try other.removeRegion(named: "pin"), try other.removeAllRegions(),
                try app.removeRegion(named: "nothing"),
            ]
            #expect(try nothing == [false, false, false] && held(daemon).regions.count == 2)
            let something = [try app.removeRegion(named: "pin"), try app.removeAllRegions()]
            #expect(try something == [true, true] && held(daemon).regions == [])
            do throws(UpcastPrivacyError) {
                try app.hide(.pixels(x: .nan, y: 0, width: 1, height: 1), named: "pin")
                Issue.record("a region that is none was taken")
            } catch {
                #expect(error.code == .refused && error.daemonCode == "bad_value")
                #expect(error.message.contains("x: a number"), "\(error)")
            }
            let nameless = CapturedApp(name: "two words", socket: daemon.controlSocket, timeout: .seconds(10))
            do throws(UpcastPrivacyError) {
                try nameless.raiseCurtain()
                Issue.record("a name that is none was taken")
            } catch {
                #expect(error.code == .refused && error.message.contains("app must have"), "\(error)")
            }
            try playback.client.finish()
            try stage.end()
        }
    }

    /// Whatever ends an app, what it has hidden stays hidden.
    @Test(.inItsTurn) func anAppIsKilled() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let app = try ChildProcess(ProductExecutable.capturedApp.path, [stage.daemon.controlSocket])
            try waitFor("the app", evidence: { app.output + app.errorTail }) { app.output.contains("captured(") }
            #expect(app.output.hasPrefix("hidden\n"))
            #expect(try app.stop(SIGKILL) == .signal(9))
            #expect(try held(stage.daemon).holders == ["app:kiosk, going away"])
            #expect(try held(stage.daemon).regions == ["app:kiosk password normalized"])
            try playback.client.finish()
            try stage.end()
        }
    }
}
