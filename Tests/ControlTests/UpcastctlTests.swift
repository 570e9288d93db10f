import Control
import ControlProtocol
import Foundation
import LinuxSystem
import Testing

@testable import upcastctl

/// The executable itself, run beside the test bundle.
@Suite struct UpcastctlTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("control.sock") }

    private func run(_ arguments: [String], environment: [String: String] = [:]) throws -> (
        status: Int32, out: String, err: String
    ) {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appending(path: "upcastctl")
        process.arguments = arguments
        process.environment = environment
        let (out, err) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (out, err)
        try process.run()
        let output = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let errors = String(decoding: err.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output, errors)
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
        #expect(err.hasPrefix("upcastctl: there is no control socket at \(path): upcastd is not running"))
        _ = try UnixSocket.listen(path: path, mode: 0o600)
        let dead = try run(["status", "--socket", path])
        #expect(dead.status == 2 && dead.err.hasPrefix("upcastctl: nobody listens at \(path)"))
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
}
