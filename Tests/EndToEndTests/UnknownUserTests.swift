import Foundation
import Glibc
import TestSupport
import Testing

/// Promise: users that the kernel cannot tell apart are never taken for one another.
@Suite struct UnknownUserTests {
    private static func mayUnshare() -> Bool {
        (try? ChildProcess.run("unshare", ["--user", "--map-root-user", "true"])) != nil
    }

    private func start(
        _ control: String, in folder: TemporaryDirectory, _ prefix: [String] = []
    ) throws -> ChildProcess {
        let path = try folder.write(
            """
            ingest:
              socket: \(folder.file("a.sock"))
            control:
              socket: \(folder.file("b.sock"))
              \(control)
            destinations:
              - url: file:\(folder.file("out.flv"))
            """, to: "upcastd.yaml")
        let command = prefix + [try ProductExecutable.upcastd.path, "--config", path]
        return try ChildProcess(command[0], Array(command.dropFirst()))
    }

    @Test func theUnitMakesNoUserNamespace() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let unit = try String(
            contentsOf: root.appending(path: "Config/systemd/upcastd@.service"), encoding: .utf8)
        let settings = unit.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(settings.contains("DynamicUser=yes"))
        #expect(!settings.contains { $0.hasPrefix("PrivateUsers=") })
    }

    @Test(.inItsTurn, .enabled(if: mayUnshare(), "user namespaces are not permitted here"))
    func roleListsAreRefusedWhereUsersCannotBeToldApart() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("namespace")
            let other = ["unshare", "--user", "--map-root-user", "--"]
            let daemon = try start("apps: \"2001, 2002\"", in: folder, other)
            let exit = daemon.waitForExit(within: 10)
            #expect(exit == .code(78), "\(daemon.errors)")
            #expect(
                daemon.errors.contains(
                    "control.apps: the daemon cannot distinguish users: its user namespace maps only 1"),
                "\(daemon.errors)")
            #expect(daemon.errors.contains("upcastd.yaml:5:"), "\(daemon.errors)")

            // Without lists there is nothing to tell apart.
            let open = try start("socket_mode: \"0666\"", in: folder, other)
            try waitFor("upcastd to answer", evidence: { open.errors }) {
                (try? UnixHTTPClient.get("/status", socket: folder.file("b.sock")))?.status == 200
            }
            #expect(try open.stop(SIGTERM, within: 15) == .code(0))
        }
    }

    @Test(.inItsTurn, arguments: ["65534", "nobody", "@65534"])
    func theNumberOfUnknownUsersIsInNoList(member: String) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("namespace")
            let daemon = try start("operators: \"\(member)\"", in: folder)
            #expect(daemon.waitForExit(within: 10) == .code(78), "\(daemon.errors)")
            let errors = daemon.errors
            #expect(errors.contains("(65534) represents") || errors.contains("65534 represents"), "\(errors)")
        }
    }

    /// What it holds could not be told from what others hold, so it holds nothing, whatever its group.
    @Test(.inItsTurn, .enabled(if: geteuid() == 0, "only root can be other users"))
    func anUnknownUserHasNoRole() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:1/live")
            settings.control["apps"] = "\"@7002\""
            settings.control["socket_mode"] = "\"0666\""
            let daemon = try Daemon(settings)
            let place = (daemon.controlSocket as NSString).deletingLastPathComponent
            #expect(chmod(place, 0o755) == 0)
            let app = #"{"app": "a"}"#
            #expect(try daemon.ask(asUser: 7001, group: 7002, "POST", "/curtain/up", app).status == 200)
            let refused = try daemon.ask(asUser: 65_534, group: 7002, "POST", "/curtain/down", app)
            #expect(refused.status == 403)
            #expect(refused.body.contains("the kernel cannot say which user asks"), "\(refused)")
            #expect(try daemon.terminate() == .code(0))
        }
    }
}
