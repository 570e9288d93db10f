import Control
import ControlClient
import ControlProtocol
import Foundation
import LinuxSystem
import MediaCore
import ProductVersion
import TestSupport
import Testing

@testable import upcastctl

/// The executable itself, run beside the test bundle.
@Suite struct UpcastctlTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.file("control.sock") }

    init() throws { folder = try TemporaryDirectory("control") }

    private func run(_ arguments: [String], environment: [String: String] = [:]) throws -> (
        status: Int32, out: String, err: String
    ) {
        let process = try ChildProcess(ProductExecutable.upcastctl.path, arguments, environment: environment)
        guard case .code(let status)? = process.waitForExit(within: 60) else {
            throw TestFailure("upcastctl \(arguments) did not end by itself. \(process.errorTail)")
        }
        return (Int32(status), process.output, process.errors)
    }

    private func serving(_ routes: ControlRoutes, _ body: () throws -> Void) throws {
        let server = ControlServer(path: path, mode: 0o600, routes: routes)
        try server.start()
        defer { server.stop() }
        try body()
    }

    @Test func statusForPeopleAndPrograms() throws {
        try serving(.standard(status: { .full }, readiness: { .ready })) {
            let people = try run(["status", "--socket", path])
            #expect(people.status == 0 && people.out == StatusText.render(.full) && people.err.isEmpty)
            let programs = try run(["status", "--json"], environment: ["UPCAST_CONTROL_SOCKET": path])
            #expect(programs.status == 0)
            #expect(StatusReport(json: try JSONParser.parse(Array(programs.out.utf8))) == .full)
        }
    }

    @Test func withoutADaemonItSaysSo() throws {
        let (status, out, err) = try run(["status", "--socket", path])
        #expect(status == 2 && out.isEmpty)
        #expect(err.hasPrefix("upcastctl: \(path) does not exist: upcastd is not running"))
        _ = try UnixSocket.listen(path: path, mode: 0o600)
        let dead = try run(["status", "--socket", path])
        #expect(dead.status == 2 && dead.err.hasPrefix("upcastctl: nothing listens at \(path)"))
    }

    @Test func anErrorOfTheDaemonIsShown() throws {
        var routes = ControlRoutes()
        routes.add("GET", "/status") { _ in .failure(503, "stopping", "the daemon is stopping") }
        try serving(routes) {
            let (status, _, err) = try run(["status", "--socket", path])
            #expect(status == 1 && err == "upcastctl: the daemon answered 503 stopping: the daemon is stopping\n")
        }
    }

    @Test(arguments: [["stat"], ["status", "--sockets", "x"], ["status", "extra"]])
    func wrongUsage(arguments: [String]) throws {
        let (status, out, err) = try run(arguments)
        #expect(status == 64 && out.isEmpty && err.contains("Error: "))
    }

    @Test func helpIsNoError() throws {
        let (status, out, _) = try run(["status", "--help"])
        #expect(status == 0 && out.contains("--socket <path>"))
    }

    /// Without it, a daemon that is not well; and a daemon that is not there is something else.
    @Test func healthAndReadiness() throws {
        try serving(.standard(status: { .full }, readiness: { .notReady("the \u{9B}2Jdaemon is stopping") })) {
            #expect(try run(["health", "--socket", path]) == (0, "healthy\n", ""))
            let ready = try run(["ready", "--socket", path])
            #expect(ready == (1, "not ready: the ?2Jdaemon is stopping\n", ""))
            let json = try run(["ready", "--json", "--socket", path])
            #expect(json.status == 1 && json.out.contains(#""message": "the \u009b2Jdaemon is stopping""#), "\(json)")
        }
        #expect(try run(["health", "--socket", path]).status == 2)
    }

    /// What is no JPEG file, or half of one, does not take the place of a picture that is.
    @Test(arguments: ["", "GIF89a", "\u{FF}", "half"]) func picturesThatAreNone(body: String) throws {
        let bytes = body == "half" ? [0xFF, 0xD8, 0xFF, 0xE0] : Array(body.utf8)
        let file = folder.file("picture.jpg")
        try Data([1, 2, 3]).write(to: URL(filePath: file))
        var routes = ControlRoutes()
        routes.add("GET", "/snapshot.jpg") { _ in
            ControlResponse(status: 200, contentType: "image/jpeg", body: bytes)
        }
        try serving(routes) {
            let (status, out, err) = try run(["snapshot", file, "--socket", path])
            #expect(status == 2 && out.isEmpty && err.contains("not a complete JPEG file"), "\(err)")
        }
        #expect(FileManager.default.contents(atPath: file) == Data([1, 2, 3]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["picture.jpg"])
    }

    /// A daemon that takes the connection and says nothing, or next to nothing for ever.
    @Test(.timeLimit(.minutes(1)), arguments: [false, true]) func aDaemonThatHangs(drips: Bool) throws {
        let listener = try UnixSocket.listen(path: path, mode: 0o600)
        let client = ControlClient(address: .unix(path), timeout: .seconds(1))
        // Until the client is gone: one that waited for the answer's end would wait for ever.
        let isGone = Monitor(false)
        let daemon = try WorkerThread(name: "hanging-daemon") {
            var connection: OwnedDescriptor?
            while isGone.wait(until: MonotonicClock().now() + .milliseconds(10), { $0 ? true : nil }) == nil {
                if connection == nil { connection = try? UnixSocket.accept(listener) }
                if drips, let raw = connection?.raw { _ = send(raw, "H", 1, CInt(MSG_NOSIGNAL)) }
            }
        }
        defer { daemon.join() }
        defer { isGone.signal { $0 = true } }
        #expect(throws: ControlClientError.self) { try client.get("/status") }
    }

    /// A daemon is started anew while somebody watches: every event is shown, and none twice.
    @Test func watchingGoesOn() throws {
        var journal = EventJournal(after: 1_000_000)
        func note(_ number: Int) {
            journal.append(
                time: "now", level: "info", name: "number", message: "number \(number)",
                fields: [.init("name", .string("\u{1B}[2J"))])
        }
        func routes() -> ControlRoutes {
            let journal = journal
            var routes = ControlRoutes()
            routes.add("GET", "/events", answering: { .events(journal, $0, status: { .full }) })
            return routes
        }
        note(1)
        var watch: ChildProcess?
        defer { watch?.kill() }
        func lines() -> [String] { watch?.output.split(separator: "\n").map(String.init) ?? [] }
        func read(to line: String) throws {
            try waitFor("a line", evidence: { "\(lines())" }) { lines().last == line }
        }
        let shown = { (number: Int) in #"now info number \#(number) name="\u001b[2J""# }
        try serving(routes()) {
            watch = try ChildProcess(ProductExecutable.upcastctl.path, ["watch", "--socket", path])
            try read(to: shown(1))
            note(2)
            try read(to: shown(2))
        }
        note(3)
        try serving(routes()) { try read(to: shown(3)) }
        journal = EventJournal(after: 2_000_000)
        note(4)
        try serving(routes()) { try read(to: shown(4)) }
        #expect(lines() == (1...4).map(shown))
    }

    /// Programs that read JSON get an object where there is no answer, too; people still get the sentence.
    @Test func errorsAsJSON() throws {
        let gone = try run(["status", "--json", "--socket", path])
        let report = ErrorReport(json: try JSONParser.parse(Array(gone.out.utf8)))
        #expect(gone.status == 2 && report.code == "unreachable" && gone.err == "upcastctl: \(report.message)\n")
        var routes = ControlRoutes()
        routes.add("POST", "/stop") { _ in .failure(409, "no_broadcast", "no broadcast is running") }
        try serving(routes) {
            let (status, out, err) = try run(["stop", "--json", "--socket", path])
            let report = ErrorReport(json: try JSONParser.parse(Array(out.utf8)))
            #expect(status == 1 && report == ErrorReport(code: "no_broadcast", message: "no broadcast is running"))
            #expect(err.hasSuffix("no_broadcast: no broadcast is running\n"))
        }
    }

    /// Whoever answers 200, or 404 with a page of its own, is not the daemon for that.
    @Test func somethingElseAnswers() throws {
        var routes = ControlRoutes()
        for path in ["/healthz", "/readyz"] {
            routes.add("GET", path) { _ in ControlResponse(status: 200, json: .object([])) }
        }
        routes.add("GET", "/status") { _ in
            ControlResponse(status: 404, contentType: "text/html", body: Array("<h1>Not Found</h1>".utf8))
        }
        try serving(routes) {
            for command in ["health", "ready", "status"] {
                let (status, out, err) = try run([command, "--socket", path])
                #expect(status == 2 && out.isEmpty && err.contains("something else"), "\(command): \(err)")
            }
        }
    }

    @Test func version() throws {
        let (status, out, err) = try run(["--version"])
        #expect(status == 0 && out == "upcastctl \(Version.current)\n" && err.isEmpty)
    }

    @Test(arguments: [
        ["bitrate", "x"], ["log-level", "loud"], ["completion", "csh"], ["status", "--url", "https://x"],
        ["status", "--url", "http://x", "--socket", "/y"], ["status", "--socket", "/y", "--token-file", "z"],
        ["destination", "add", "a", "b", "c"],
    ])
    func wrongValues(arguments: [String]) throws {
        let (status, out, err) = try run(arguments)
        #expect(status == 64 && out.isEmpty && err.contains("Error: "), "\(err)")
    }

    /// A token file that holds none is told without a word of what it holds.
    @Test func tokenFiles() throws {
        for content in ["", "\n", "two words\n", "s3cret\u{1}"] {
            let file = folder.file("token")
            try Data(content.utf8).write(to: URL(filePath: file))
            let (status, _, err) = try run(["status", "--url", "http://127.0.0.1:1", "--token-file", file])
            #expect(status == 1 && err.contains("holds no token") && !err.contains("s3cret"), "\(err)")
        }
        let (status, _, err) = try run(["status", "--url", "http://127.0.0.1:1", "--token-file", folder.file("none")])
        #expect(status == 1 && err.contains("cannot open the token file"), "\(err)")
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completions(shell: String) throws {
        let (status, out, _) = try run(["completion", shell])
        #expect(status == 0 && out.contains("upcastctl") && out.contains("log-level"))
    }
}
