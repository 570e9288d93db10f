import ControlProtocol
import Foundation
import LinuxSystem
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import UpcastPrivacy

/// What an app asks for, of a daemon that the test plays.
@Suite struct CapturedAppTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("privacy") }

    /// The request that `ask` sends to a daemon that answers `text`, and then closes.
    private func request(answering text: String, _ ask: (CapturedApp) throws -> Void) throws -> String {
        let daemon = try FakeDaemon(folder.socket)
        let request = Monitor<String?>(nil)
        Thread.detachNewThread {
            let connection = try? daemon.accept()
            connection?.send(text)
            request.signal { $0 = connection?.request ?? "" }
        }
        try ask(CapturedApp(name: "kiosk", socket: folder.socket, timeout: .seconds(10)))
        return request.wait(until: MonotonicClock().now() + .seconds(15)) { $0 } ?? ""
    }

    private func code(answering text: String, _ ask: (CapturedApp) throws -> Void) throws -> UpcastPrivacyError? {
        var error: UpcastPrivacyError?
        _ = try request(answering: text) { app in
            do { try ask(app) } catch let thrown as UpcastPrivacyError { error = thrown }
        }
        return error
    }

    private func body(_ request: String) throws -> JSONValue {
        try JSONParser.parse(Array((request.components(separatedBy: "\r\n\r\n").last ?? "").utf8))
    }

    private static let raised = """
        {"up":true,"taken_back_video_packets":7,"taken_back_audio_packets":9,\
        "last_pts_ms":{"main":1234,"file":null}}
        """

    @Test func theCurtainIsRaised() throws {
        var receipt: CurtainReceipt?
        let sent = try request(answering: answer(200, Self.raised)) {
            receipt = try $0.raiseCurtain(reason: "\"x\"")
        }
        #expect(sent.hasPrefix("POST /curtain/up HTTP/1.1\r\n"))
        #expect(try body(sent) == .object([.init("app", .string("kiosk")), .init("reason", .string("\"x\""))]))
        #expect(receipt?.videoPacketsTakenBack == 7 && receipt?.audioPacketsTakenBack == 9)
        #expect(
            receipt?.destinations == [
                .init(name: "main", lastPTS: .milliseconds(1234)), .init(name: "file", lastPTS: nil),
            ])
    }

    /// An app that says too much is not refused for it.
    @Test func longReasonsAreCut() throws {
        let sent = try request(answering: answer(200, Self.raised)) {
            try $0.raiseCurtain(reason: String(repeating: "é", count: 101) + "x")
        }
        #expect(try body(sent)["reason"] == .string(String(repeating: "é", count: 100)))
    }

    @Test func theCurtainIsLetGo() throws {
        for isUp in [true, false] {
            var release: CurtainRelease?
            let sent = try request(answering: answer(200, #"{"up":\#(isUp)}"#)) { release = try $0.lowerCurtain() }
            #expect(sent.hasPrefix("POST /curtain/down HTTP/1.1\r\n"))
            #expect(release == (isUp ? .heldByOthers : .lowered))
            #expect(try body(sent) == .object([.init("app", .string("kiosk"))]))
            try FileManager.default.removeItem(atPath: folder.socket)
        }
    }

    @Test func regions() throws {
        let hidden = try request(answering: answer(200, "{}")) {
            try $0.hide(.pixels(x: -1, y: 2, width: 3.5, height: 4), named: "password")
        }
        #expect(hidden.hasPrefix("POST /regions HTTP/1.1\r\n"))
        let wanted = #"{"app":"kiosk","name":"password","x":-1.0,"y":2.0,"width":3.5,"height":4.0,"unit":"pixels"}"#
        #expect(try body(hidden) == JSONParser.parse(Array(wanted.utf8)))
        try FileManager.default.removeItem(atPath: folder.socket)
        let why = try request(answering: answer(200, "{}")) {
            try $0.hide(.pixels(x: 1, y: 2, width: 3, height: 4), named: "password", reason: "login")
        }
        #expect(try body(why)["reason"] == .string("login"))
        try FileManager.default.removeItem(atPath: folder.socket)
        let shown = try request(answering: answer(200, "{}")) {
            let wasHidden = try $0.removeRegion(named: "a b/ü")
            #expect(wasHidden)
        }
        #expect(shown.hasPrefix("DELETE /regions?app=kiosk&name=a%20b%2f%c3%bc HTTP/1.1\r\n"), "\(shown)")
        try FileManager.default.removeItem(atPath: folder.socket)
        let none = #"{"error":{"code":"not_found","message":"app:kiosk has no region"}}"#
        let all = try request(answering: answer(404, none)) {
            let wereHidden = try $0.removeAllRegions()
            #expect(!wereHidden)
        }
        #expect(all.hasPrefix("DELETE /regions?app=kiosk HTTP/1.1\r\n"), "\(all)")
    }

    /// What a daemon can answer that is no agreement.
    @Test(arguments: [
        ("", UpcastPrivacyError.Code.unreachable), ("SSH-2.0-x\r\n\r\n", .notUnderstood),
        (answer(200, "{}"), .notUnderstood), (answer(200, #"{"up":false}"#), .notUnderstood),
        (answer(200, "[]"), .notUnderstood), (answer(200, "{"), .notUnderstood), (answer(404, "{}"), .notUnderstood),
        (answer(200, #"{"up":1,"last_pts_ms":{}}"#), .notUnderstood),
        ("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"up\":true}", .notUnderstood),
        ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: " ", count: 5_000_000), .notUnderstood),
        (answer(400, #"{"error":{"code":"bad_value","message":"app: its name"}}"#), .refused),
        (answer(503, #"{"error":{"code":"too_many_connections","message":"16 are open"}}"#), .refused),
        // A path that is not there is not what `removeRegion` takes for done.
        (answer(404, #"{"error":{"code":"no_such_thing","message":"nothing"}}"#), .refused),
    ])
    func whatIsNoAgreement(text: String, code: UpcastPrivacyError.Code) throws {
        for ask in [{ try $0.raiseCurtain() }, { try $0.lowerCurtain() }] as [(CapturedApp) throws -> Void] {
            // For the other call it is a right answer.
            guard text != answer(200, #"{"up":false}"#) else { continue }
            let error = try self.code(answering: text, ask)
            #expect(error?.code == code, "\(error?.description ?? "no error")")
            #expect(error?.message.contains("the curtain may") == true)
            try FileManager.default.removeItem(atPath: folder.socket)
        }
        guard code == .refused else { return }
        let error = try self.code(answering: text) { try $0.removeAllRegions() }
        #expect(error?.code == .refused && error?.daemonCode != nil, "\(String(describing: error))")
    }

    /// Neither a daemon that is silent nor one that takes no connection holds an app up.
    @Test(arguments: [true, false]) func deadlines(isFull: Bool) throws {
        let daemon = try FakeDaemon(folder.socket, backlog: isFull ? 0 : 8)
        let kept = KeptOpen()
        if isFull { kept.fill(folder.socket) }
        let app = CapturedApp(name: "kiosk", socket: folder.socket, timeout: .milliseconds(200))
        let begin = MonotonicClock().now()
        do {
            try app.raiseCurtain()
            Issue.record("nobody has answered")
        } catch {
            #expect(error.code == (isFull ? .unreachable : .timedOut), "\(error)")
        }
        let time = MonotonicClock().now() - begin
        #expect(time > .milliseconds(190) && time < .seconds(5), "\(time)")
        _ = (daemon, kept)
    }

    @Test func withoutADaemon() throws {
        let app = CapturedApp(name: "kiosk", socket: folder.socket)
        for _ in 0..<2 {
            do {
                try app.hide(.everything, named: "all")
                Issue.record("nobody is there")
            } catch {
                #expect(error.code == .unreachable && error.message.contains("raise the curtain"), "\(error)")
            }
            _ = try? FakeDaemon(folder.socket)
        }
    }
}

/// The same from tasks.
@Suite(.endsWithin(60, on: .shared)) struct AsyncCapturedAppTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("privacy") }

    /// Answers requests with `texts`, one after the other; the requests' first lines.
    private func serve(_ texts: [String]) throws -> Task<[String], any Error> {
        let daemon = try FakeDaemon(folder.socket)
        let (lines, tell) = AsyncThrowingStream<String, any Error>.makeStream()
        Thread.detachNewThread {
            for text in texts {
                guard let connection = try? daemon.accept() else { break }
                connection.send(text)
                tell.yield(connection.request.components(separatedBy: "\r\n")[0])
            }
            tell.finish()
        }
        return Task(executorPreference: OwnThreads.shared) { try await lines.reduce(into: []) { $0.append($1) } }
    }

    @Test func everyCallHasAVariantForTasks() async throws {
        let raised = answer(
            200, #"{"up":true,"taken_back_video_packets":7,"taken_back_audio_packets":9,"last_pts_ms":{}}"#)
        let requests = try serve([
            raised, answer(200, "{}"), answer(200, "{}"), answer(200, "{}"), answer(200, #"{"up":true}"#), raised,
            answer(200, #"{"up":false}"#),
        ])
        let app = CapturedApp(name: "kiosk", socket: folder.socket, timeout: .seconds(10))
        let receipt = try await app.raiseCurtain()
        #expect(receipt.videoPacketsTakenBack == 7)
        try await app.hide(.everything, named: "all")
        #expect(try await app.removeRegion(named: "all"))
        #expect(try await app.removeAllRegions())
        #expect(try await app.lowerCurtain() == .heldByOthers)
        try await app.willResignActive()
        #expect(try await app.didBecomeActive() == .lowered)
        #expect(
            try await requests.value.map { $0.replacing(" HTTP/1.1", with: "") } == [
                "POST /curtain/up", "POST /regions", "DELETE /regions?app=kiosk&name=all",
                "DELETE /regions?app=kiosk",
                "POST /curtain/down", "POST /curtain/up", "POST /curtain/down",
            ])
    }

    @Test func errorsAreTheSame() async throws {
        let app = CapturedApp(name: "kiosk", socket: folder.socket, timeout: .seconds(10))
        do throws(UpcastPrivacyError) {
            try await app.raiseCurtain()
            Issue.record("nobody is there")
        } catch {
            #expect(error.code == .unreachable && error.message.contains("the curtain may not be up"), "\(error)")
        }
    }

    /// An app whose view goes away has asked all the same, and the daemon's answer counts.
    @Test func cancellingDoesNotCutACallShort() async throws {
        let daemon = try FakeDaemon(folder.socket)
        let app = CapturedApp(name: "kiosk", socket: folder.socket, timeout: .seconds(10))
        let call = Task(executorPreference: OwnThreads.shared) { try await app.lowerCurtain() }
        let connection = try daemon.accept()
        call.cancel()
        connection.send(answer(200, #"{"up":false}"#))
        #expect(try await call.value == .lowered)
    }

    /// An actor that draws runs on while the daemon is silent.
    @Test func theCallersActorDoesNotWait() async throws {
        let daemon = try FakeDaemon(folder.socket)
        let app = CapturedApp(name: "kiosk", socket: folder.socket, timeout: .seconds(10))
        let screen = Screen()
        let call = Task(executorPreference: OwnThreads.shared) { try await screen.lowerCurtain(of: app) }
        let connection = try daemon.accept()
        // Were the actor blocked by the call, the daemon would not answer before it gives up.
        await screen.draw()
        connection.send(answer(200, #"{"up":false}"#))
        #expect(try await call.value == .lowered)
    }

    private actor Screen {
        func lowerCurtain(of app: CapturedApp) async throws -> CurtainRelease { try await app.lowerCurtain() }
        func draw() {}
    }

    @Test func stoppingFromATask() async throws {
        let monitor = try CaptureStateMonitor(app: nil, socket: folder.socket)
        await monitor.stop()
        #expect(monitor.state == .unknown)
    }

    @Test(arguments: [
        (Duration.zero, "1970-01-01T00:00:00.000Z"), (.milliseconds(1_795_339_486_250), "2026-11-22T09:24:46.250Z"),
        (.milliseconds(-1), "1969-12-31T23:59:59.999Z"),
    ])
    func timesAreReadable(time: Duration, text: String) {
        #expect("\(UTCTime(sinceEpoch: time))" == text)
    }
}
