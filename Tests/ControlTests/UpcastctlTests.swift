import Control
import ControlClient
import ControlProtocol
import Foundation
import LinuxSystem
import MediaCore
import ProductVersion
import TestLimits
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

    /// Without a command, or with half of one, there is help, and it is an error.
    @Test(arguments: [[], ["curtain"], ["region"]]) func halfACommand(arguments: [String]) throws {
        let (status, out, err) = try run(arguments)
        #expect(status == 64 && out.isEmpty && err.contains("USAGE: upcastctl"), "\(err)")
    }

    @Test func aTypingError() throws {
        let (status, out, err) = try run(["staus", "--json"])
        #expect(status == 64 && out.isEmpty && err.hasSuffix("did you mean \"status\"?\n"), "\(err)")
    }

    // MARK: Instances

    private func servingInstance(_ name: String, _ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        let server = ControlServer(
            path: folder.file("\(name)/control.sock"), mode: 0o600,
            routes: .standard(status: { .full }, readiness: { .ready }))
        try server.start()
        defer { server.stop() }
        try body()
    }

    /// The only daemon is found; of several, the one that is named.
    @Test func instances() throws {
        let here = ["UPCAST_RUNTIME_DIRECTORY": folder.path]
        let none = try run(["status"], environment: here)
        #expect(none.status == 2 && none.err.contains("no daemon was found"), "\(none)")
        let noList = try run(["list"], environment: here)
        #expect(noList == (0, "", "upcastctl: no daemons in \(folder.path)\n"))
        try servingInstance("main") {
            #expect(try run(["health"], environment: here) == (0, "healthy\n", ""))
            try servingInstance("backup") {
                let several = try run(["health"], environment: here)
                #expect(several.status == 64 && several.err.contains("backup, main; choose one with -i NAME"))
                for arguments in [["health", "-i", "main"], ["-i", "main", "health"], ["health", "--instance=backup"]] {
                    #expect(try run(arguments, environment: here) == (0, "healthy\n", ""))
                }
                let chosen = here.merging(["UPCAST_INSTANCE": "main"]) { $1 }
                #expect(try run(["health"], environment: chosen).status == 0)
                let wrong = try run(["health", "-i", "mian"], environment: chosen)
                #expect(wrong.status == 2 && wrong.err.contains("did you mean \"main\"?"), "\(wrong)")
                // A socket that is named wins over the variable.
                let gone = try run(["health", "--socket", path], environment: chosen)
                #expect(gone.status == 2 && gone.err.contains("\(path) does not exist"), "\(gone)")
                let list = try run(["list"], environment: here)
                #expect(list.status == 0)
                #expect(list.out.split(separator: "\n").map { $0.prefix(6) } == ["NAME  ", "backup", "main  "])
                let json = try JSONParser.parse(Array(try run(["list", "--json"], environment: here).out.utf8))
                guard case .array(let all) = json["instances"] else { throw TestFailure("\(json)") }
                #expect(all.map { $0["name"] } == [.string("backup"), .string("main")])
            }
            let both = try run(["health", "-i", "a", "--socket", path])
            #expect(both.status == 64 && both.err.contains("--instance and --socket exclude each other"), "\(both)")
        }
    }

    /// bash completes what a daemon knows; without one, nothing comes back.
    @Test func completedNames() throws {
        let script = try folder.write(try run(["completion", "bash"]).out, to: "completion.bash")
        let program = """
            source '\(script)'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            _upcastctl "$1" "${!#}" "${@: -2:1}"; printf '%s\n' "${COMPREPLY[@]}"
            """
        func complete(_ words: String...) throws -> [String] {
            let bash = try ChildProcess(
                "bash", ["-c", program, "bash", ProductExecutable.upcastctl.path] + words,
                environment: ["UPCAST_RUNTIME_DIRECTORY": folder.path])
            #expect(bash.waitForExit(within: 30) == .code(0) && bash.errors.isEmpty, "\(bash.errors)")
            return bash.output.split(separator: "\n").map(String.init)
        }
        #expect(try complete("status", "-i", "") == [])
        #expect(try complete("retry", "") == [])
        try servingInstance("main") {
            #expect(try complete("status", "-i", "") == ["main"])
            #expect(try complete("retry", "") == ["main", "recording"])
            #expect(try complete("destination", "remove", "rec") == ["recording"])
            #expect(try complete("region", "remove", "") == ["password"])
            #expect(try complete("region", "remove", "--app", "k") == ["kiosk"])
            #expect(try complete("protection", "on", "") == ["curtain"])
            try servingInstance("backup") {
                // Several daemons, and none is named.
                let (none, one) = (try complete("retry", ""), try complete("retry", "-i", "main", "rec"))
                #expect(none == [] && one == ["recording"])
            }
        }
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

    /// The daemon is not asked.
    @Test func picturesOfAnotherKind() throws {
        let (status, out, err) = try run(["snapshot", folder.file("a.PNG"), "--socket", path])
        #expect(status == 64 && out.isEmpty && err.contains("JPEG files, not PNG: use a name"), "\(err)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        for name in ["a.png.jpg", "png"] {
            #expect(try run(["snapshot", folder.file(name), "--socket", path]).status == 2, "there is no daemon")
        }
    }

    /// A daemon that takes the connection and says nothing, or next to nothing for ever.
    @Test(.endsWithin(60), arguments: [false, true]) func aDaemonThatHangs(drips: Bool) throws {
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

    /// What a command's name says has not happened: the exit status says so, too.
    @Test func whatIsNotDone() throws {
        var routes = ControlRoutes.standard(status: { .full }, readiness: { .ready })
        var down = CurtainDownAnswer()
        (down.isUp, down.isReleased) = (true, true)
        let isStillUp = down.json
        routes.add("POST", "/curtain/down") { _ in .init(status: 200, json: isStillUp) }
        routes.add("POST", "/state/release") { _ in .init(status: 200, json: ReleaseAnswer().json) }
        routes.add("POST", "/destinations/retry") { _ in .init(status: 200, json: .object([])) }
        routes.add("GET", "/destinations") { _ in
            var answer = DestinationsAnswer()
            answer.destinations = StatusReport.full.destinations
            return .init(status: 200, json: answer.json)
        }
        routes.add("POST", "/resume") { _ in .init(status: 200, json: .object([])) }
        try serving(routes) {
            let down = try run(["curtain", "down", "--socket", path])
            #expect(down.status == 1 && down.err.contains("still up, held by app:kiosk of user 1000"), "\(down)")
            let json = try run(["curtain", "down", "--json", "--socket", path])
            #expect(json.status == 1 && json.out.contains("\"up\": true") && json.err == down.err, "\(json)")
            let release = try run(["curtain", "release", "--socket", path])
            #expect(release.status == 1 && release.err == "upcastctl: no app was waited for; nothing changed\n")
            let retry = try run(["retry", "recording", "--socket", path])
            #expect(retry.status == 1 && retry.err.hasSuffix("recording is live\n"), "\(retry)")
            #expect(try run(["resume", "--socket", path]).status == 0)
        }
    }

    /// A pause by the client goes on when the operator's has ended.
    @Test func aPauseThatGoesOn() throws {
        var paused = StatusReport.full
        paused.state = .paused
        let status = paused
        var routes = ControlRoutes.standard(status: { status }, readiness: { .ready })
        routes.add("POST", "/resume") { _ in .init(status: 200, json: .object([])) }
        try serving(routes) {
            let resume = try run(["resume", "--socket", path])
            #expect(resume.status == 1 && resume.err.contains("the client has paused it too"), "\(resume)")
        }
    }

    /// A daemon is started anew while somebody watches: every event is shown, and none twice.
    @Test func watchingGoesOn() throws {
        var journal = EventJournal(after: 1_000_000)
        func note(_ number: Int) {
            journal.append(
                EventRecord(
                    time: "now", level: "info", name: "number", message: "number \(number)",
                    fields: [.init("name", .string("\u{1B}[2J"))]))
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
            watch = try ChildProcess(ProductExecutable.upcastctl.path, ["events", "--socket", path])
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
            #expect(err == "upcastctl: refused: no broadcast is running\n")
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
            #expect(status == 64 && err.contains("holds no token") && !err.contains("s3cret"), "\(err)")
        }
        let (status, _, err) = try run(["status", "--url", "http://127.0.0.1:1", "--token-file", folder.file("none")])
        #expect(status == 64 && err.contains("cannot open the token file"), "\(err)")
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completions(shell: String) throws {
        let (status, out, _) = try run(["completion", shell])
        #expect(status == 0 && out.contains("upcastctl") && out.contains("log-level"))
    }
}
