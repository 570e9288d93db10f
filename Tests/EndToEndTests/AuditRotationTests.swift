import Foundation
import Glibc
import TestSupport
import Testing

/// Promise: after a SIGHUP, lines of the audit log go to the file of that name, whatever became of the configuration.
@Suite struct AuditRotationTests {
    private func lines(_ path: String) -> Int {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").count
    }

    /// Moves the file away as log rotation does, and sees where the next line goes.
    private func rotate(_ path: String, of process: ChildProcess, socket: String, log: String) throws {
        func raise() throws {
            for way in ["up", "down"] {
                let answer = try UnixHTTPClient.ask("POST", "/curtain/\(way)", socket: socket)
                #expect(answer.status == 200)
            }
        }
        try raise()
        try waitFor("the first lines") { lines(path) == 2 }
        #expect(rename(path, path + ".1") == 0)
        process.signal(SIGHUP)
        try waitFor("the reload", evidence: { process.output + process.errors }) {
            (process.output + process.errors).contains(log)
        }
        try raise()
        try waitFor("the next lines", evidence: { "\(self.lines(path + ".1")) lines are in the old file" }) {
            lines(path) == 2
        }
        #expect(lines(path + ".1") == 2)
    }

    @Test(.inItsTurn) func withABrokenConfiguration() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("audit")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.privacy["audit_file"] = folder.file("audit.json")
            let daemon = try Daemon(settings)
            settings.video["no_such_key"] = "1"
            try daemon.rewrite(settings)
            try rotate(
                folder.file("audit.json"), of: daemon.process, socket: daemon.controlSocket,
                log: "configuration not reloaded")
            #expect(try daemon.terminate() == .code(0))
        }
    }

    @Test(.inItsTurn) func withoutAConfigurationFile() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("audit")
            let socket = folder.file("control.sock")
            let process = try ChildProcess(
                ProductExecutable.upcastd.path, [],
                environment: [
                    "UPCAST_INGEST_SOCKET": folder.file("capture.sock"), "UPCAST_CONTROL_SOCKET": socket,
                    "UPCAST_PRIVACY_AUDIT_FILE": folder.file("audit.json"),
                    "UPCAST_DESTINATIONS_0_URL": "file:" + folder.file("out.flv"),
                ])
            try waitFor("upcastd to answer", evidence: { process.errorTail }) {
                (try? UnixHTTPClient.get("/status", socket: socket)) != nil
            }
            try rotate(folder.file("audit.json"), of: process, socket: socket, log: "nothing to reload")
            #expect(try process.stop(SIGTERM) == .code(0))
        }
    }
}
