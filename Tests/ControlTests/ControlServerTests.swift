import Control
import ControlProtocol
import Foundation
import LinuxSystem
import MediaCore
import Synchronization
import SeededRandom
import TestSupport
import Testing

@Suite struct ControlServerTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.file("control.sock") }

    init() throws { folder = try TemporaryDirectory("control") }

    /// Runs a server for as long as `body` takes.
    private func serving(
        _ limits: ControlLimits = ControlLimits(), readiness: Readiness = .ready, _ body: () throws -> Void
    ) throws {
        var routes = ControlRoutes.standard(status: { .full }, readiness: { readiness })
        routes.add("POST", "/echo") { request in
            ControlResponse(status: 200, json: .object([.init("bytes", .integer(request.body.count))]))
        }
        routes.add("GET", "/large") { _ in
            ControlResponse(status: 200, json: .string(String(repeating: "x", count: 8 << 20)))
        }
        let server = ControlServer(path: path, mode: 0o600, routes: routes, limits: limits)
        try server.start()
        defer { server.stop() }
        try body()
    }

    private func request(_ method: String, _ target: String) throws -> (head: String, body: [UInt8]) {
        try Self.parts(RawClient(path).send("\(method) \(target) HTTP/1.1\r\nHost: x\r\n\r\n").receive())
    }

    private func answers200(_ target: String) -> Bool {
        (try? request("GET", target))?.head.hasPrefix("HTTP/1.1 200 ") == true
    }

    private static func parts(_ answer: [UInt8]) throws -> (head: String, body: [UInt8]) {
        let end = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8)))
        return (String(decoding: answer[..<end.lowerBound], as: UTF8.self), Array(answer[end.upperBound...]))
    }

    private func expectError(_ answer: [UInt8], _ status: Int, _ code: String) throws {
        let (head, body) = try Self.parts(answer)
        #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
        let report = ErrorReport(json: try JSONParser.parse(body))
        #expect(report.code == code)
        #expect(!report.message.isEmpty)
    }

    @Test func statusIsServed() throws {
        try serving {
            let (head, body) = try request("GET", "/status?pretty")
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(head.contains("Content-Type: application/json") && head.contains("Connection: close"))
            #expect(head.contains("Content-Length: \(body.count)"))
            #expect(StatusReport(json: try JSONParser.parse(body)) == .full)
        }
    }

    @Test func headHasNoBody() throws {
        try serving {
            let (head, body) = try request("HEAD", "/status")
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(head.contains("Content-Length: \(StatusReport.full.json.serialized().count + 1)"))
            #expect(body.isEmpty)
        }
    }

    /// The event loop would have to close it, which can take as long as the sender likes. Since Linux 6.16.
    @Test(.enabled(if: Self.kernelRefusesDescriptors)) func nobodyCanSendADescriptor() throws {
        try serving {
            let client = try UnixSocket.connect(path: path)
            let memory = try OfferedMemory(name: "test", byteCount: 4096)
            #expect(throws: Errno(EPERM)) {
                try [UInt8(1)].withUnsafeBytes { _ = try memory.send(with: $0, to: client.raw) }
            }
        }
    }

    /// The main thread sees that the event loop hangs, and that it goes on.
    @Test func anEventLoopThatHangsIsSeen() throws {
        let isHanging = Monitor(true)
        let hasBegun = Monitor(false)
        var routes = ControlRoutes.standard(status: { .full }, readiness: { .ready })
        routes.add("POST", "/hang") { _ in
            hasBegun.signal { $0 = true }
            _ = isHanging.wait { $0 ? nil : true }
            return ControlResponse(status: 200, json: .object([]))
        }
        let server = ControlServer(path: path, mode: 0o600, routes: routes)
        try server.start()
        defer { server.stop() }
        let eventLoop = "the event loop of the control server"
        func stuck() -> [String] {
            var names: [String] = []
            server.forEachWorkMark {
                if let (inside, _) = $0.look(after: .seconds(1)), inside >= .seconds(5) { names.append($0.name) }
            }
            return names
        }
        for _ in 0..<20 {
            #expect(!stuck().contains(eventLoop))
            #expect(answers200("/healthz"))
        }
        let client = try RawClient(path)
        client.send("POST /hang HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        #expect(hasBegun.wait(until: MonotonicClock().now() + .seconds(30)) { $0 ? true : nil } == true)
        // The thread that accepts may be preempted on its way back from a connection. It then looks stuck, too.
        try waitFor("the event loop alone to be stuck", evidence: { "\(stuck())" }) { stuck() == [eventLoop] }
        isHanging.signal { $0 = false }
        #expect(client.receiveText().hasPrefix("HTTP/1.1 200"))
        #expect(answers200("/healthz"))
        #expect(!stuck().contains(eventLoop))
    }

    private static var kernelRefusesDescriptors: Bool {
        var name = utsname()
        uname(&name)
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 16)
    }

    /// A socket that a service manager made stays where it is, with its mode, for the next daemon.
    @Test func aPassedSocket() throws {
        let listener = try UnixSocket.listen(path: path, mode: 0o640)
        let server = ControlServer(
            path: "/nowhere/control.sock", mode: 0o600,
            routes: .standard(status: { .full }, readiness: { .ready }))
        try server.start(on: listener)
        #expect(answers200("/healthz"))
        server.stop()
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test func aThreadThatHangs() throws {
        let routes = ControlRoutes.standard(
            status: { .full }, readiness: { .ready }, wedged: { "the video thread hangs" })
        guard case .response(let response) = routes.answer(to: ControlRequest(method: "GET", target: "/healthz")) else {
            Issue.record("it takes its time")
            return
        }
        #expect(response.status == 503)
        #expect(String(decoding: response.body, as: UTF8.self).contains("the video thread hangs"))
    }

    @Test func health() throws {
        try serving {
            #expect(answers200("/healthz"))
            #expect(answers200("/readyz"))
        }
        try serving(readiness: .notReady("no destination is connected")) {
            let (head, body) = try request("GET", "/readyz")
            #expect(head.hasPrefix("HTTP/1.1 503 "))
            #expect(
                ErrorReport(json: try JSONParser.parse(body))
                    == ErrorReport(code: "not_ready", message: "no destination is connected"))
            #expect(answers200("/healthz"))
        }
    }

    @Test func whatIsNotThereIsSaid() throws {
        try serving {
            try expectError(RawClient(path).send("GET /nothing HTTP/1.1\r\n\r\n").receive(), 404, "not_found")
            let answer = try RawClient(path).send("DELETE /status HTTP/1.1\r\n\r\n").receive()
            try expectError(answer, 405, "method_not_allowed")
            #expect(try Self.parts(answer).head.contains("Allow: GET, HEAD"))
        }
    }

    @Test func bodiesReachTheRoute() throws {
        try serving {
            let body = String(repeating: "b", count: 8192)
            let plain = try RawClient(path).send("POST /echo HTTP/1.1\r\nContent-Length: 8192\r\n\r\n" + body)
                .receiveText()
            #expect(plain.hasSuffix("{\"bytes\":8192}\n"))
            let chunked = try RawClient(path).send(
                "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
            ).receiveText()
            #expect(chunked.hasSuffix("{\"bytes\":8}\n"))
        }
    }

    @Test(arguments: [
        ("GET /status HTTP/1.1\r\nX: " + String(repeating: "x", count: 9000) + "\r\n\r\n", 431, "head_too_large"),
        ("GET /" + String(repeating: "x", count: 70_000), 431, "head_too_large"),
        ("GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 2000), 431, "head_too_large"),
        (
            "POST /echo HTTP/1.1\r\nContent-Length: 8193\r\n\r\n" + String(repeating: "x", count: 8193), 413,
            "body_too_large"
        ),
        (
            "POST /echo HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n" + String(repeating: "x", count: 100_000), 413,
            "body_too_large"
        ),
        // A megabyte's worth of framing around a small body.
        (
            "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "1;" + String(repeating: "e", count: 60) + "\r\nx\r\n", count: 2000),
            413, "body_too_large"
        )
    ])
    func tooMuchIsRefused(text: String, status: Int, code: String) throws {
        try serving { try expectError(RawClient(path).send(text).receive(), status, code) }
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0 a TLS hello", "hello\r\n\r\n", "GET /status\r\n\r\n",
        "GET /status HTTP/9.9\r\n\r\n",
        "GET /status HTTP/1.1\r\nContent-Length: x\r\n\r\n", "GET /status HTTP/1.1\r\nA B: c\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ])
    func garbageIsRefused(text: String) throws {
        try serving {
            try expectError(RawClient(path).send(text).receive(), 400, "bad_request")
            #expect(answers200("/healthz"))
        }
    }

    /// Noise, sent whole or cut short, never takes the server down and never gets more than one answer.
    @Test func noiseIsSurvived() throws {
        try serving {
            var generator = SplitMix64(seed: 1)
            for _ in 0..<100 {
                var bytes = Array("GET /status HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc".utf8)
                for _ in 0..<4 {
                    bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
                let answer = try RawClient(path).send(bytes).finishSending().receiveText()
                #expect(answer.isEmpty || answer.ranges(of: "Connection: close").count == 1, "\(answer)")
            }
            #expect(answers200("/healthz"))
        }
    }

    @Test func aSecondRequestOnTheSameConnectionIsNotAnswered() throws {
        try serving {
            let answer = try RawClient(path).send(String(repeating: "GET /healthz HTTP/1.1\r\n\r\n", count: 3))
                .receiveText()
            #expect(answer.ranges(of: "HTTP/1.1 200").count == 1)
        }
    }

    @Test func aClientMayFinishSendingBeforeItReads() throws {
        try serving {
            let answer = try RawClient(path).send("GET /status HTTP/1.0\r\n\r\n").finishSending().receiveText()
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(
                try RawClient(path).send("GET /sta").finishSending().receiveText().hasPrefix("HTTP/1.1 200 ") == false)
        }
    }

    @Test func aSlowRequestIsCutOff() throws {
        var limits = ControlLimits()
        limits.requestTimeoutMilliseconds = 20
        try serving(limits) {
            try expectError(RawClient(path).send("GET /status HT").receive(), 408, "request_timeout")
            try expectError(RawClient(path).receive(), 408, "request_timeout")
        }
    }

    @Test func aClientThatDoesNotReadIsCutOff() throws {
        var limits = ControlLimits()
        limits.responseTimeoutMilliseconds = 20
        try serving(limits) {
            let client = try RawClient(path).send("GET /large HTTP/1.1\r\n\r\n")
            #expect(client.waitForHangUp())
            #expect(client.receive().count < 8 << 20)
        }
    }

    /// Those who take longest to ask make room for those who ask at once.
    @Test func theSlowestMakesRoom() throws {
        var limits = ControlLimits()
        limits.maxConnections = 3
        try serving(limits) {
            let idle = try (0..<3).map { _ in try RawClient(path) }
            for _ in 0..<2 { #expect(answers200("/healthz")) }
            #expect(idle[0].waitForHangUp())
            #expect(idle[1].send("GET /healthz HTTP/1.1\r\n\r\n").receiveText().hasPrefix("HTTP/1.1 200 "))
        }
    }

    /// Connections that are being answered stay: without a slow asker among them there is no room.
    @Test func connectionsAreBounded() throws {
        var limits = ControlLimits()
        limits.maxConnections = 3
        limits.responseTimeoutMilliseconds = 120_000
        try serving(limits) {
            let slow = try (0..<3).map { _ in try RawClient(path).send("GET /large HTTP/1.1\r\n\r\n") }
            for client in slow { #expect(client.waitForFirstByte()) }
            for _ in 0..<5 { try expectError(RawClient(path).receive(), 503, "too_many_connections") }
            #expect(slow[1].receive().count > 8 << 20)
            #expect(answers200("/healthz"))
        }
    }

    @Test func stoppingHangsUpAndRemovesTheFile() throws {
        let server = ControlServer(path: path, mode: 0o640, status: { .full }, readiness: { .ready })
        try server.start()
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        let idle = try RawClient(path)
        #expect(answers200("/healthz"))
        server.stop()
        server.stop()
        #expect(idle.receive().isEmpty)
        #expect(stat(path, &status) != 0)
        try serving { #expect(answers200("/healthz")) }
    }

    @Test func onlyADeadSocketIsReplaced() throws {
        do {
            // A listener that is gone leaves its file behind.
            _ = try UnixSocket.listen(path: path, mode: 0o600)
        }
        try serving {
            let second = ControlServer(path: path, mode: 0o600, status: { .full }, readiness: { .ready })
            let error = #expect(throws: ControlServerError.self) { try second.start() }
            #expect(error?.description.contains("another process is listening at \(path)") == true)
            #expect(answers200("/healthz"))
        }
        try "not a socket".write(toFile: path, atomically: true, encoding: .utf8)
        let server = ControlServer(path: path, mode: 0o600, status: { .full }, readiness: { .ready })
        #expect(throws: ControlServerError.self) { try server.start() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "not a socket")
    }
}
