import Foundation
import Glibc
import TestSupport
import Testing

/// Promise: stream keys and the picture get into no core file, and no other process of the daemon's user reads them.
@Suite struct DumpTests {
    /// The files in /proc of a process that is not dumpable are root's.
    private func owner(_ process: pid_t) throws -> uid_t {
        var status = stat()
        try #require(stat("/proc/\(process)/environ", &status) == 0)
        return status.st_uid
    }

    @Test(.inItsTurn, .enabled(if: geteuid() == 0, "only root can be other users"), arguments: [false, true])
    func theMemoryIsReadOnlyWhereThatIsWanted(isDumpable: Bool) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("dump")
            #expect(chown(folder.path, 7001, 7001) == 0)
            let setting = isDumpable ? "privacy:\n  dumpable: true\n" : ""
            let path = try folder.write(
                """
                ingest:
                  socket: \(folder.file("a.sock"))
                control:
                  socket: \(folder.file("b.sock"))
                \(setting)destinations:
                  - url: file:\(folder.file("out.flv"))
                """, to: "upcastd.yaml")
            chmod(path, 0o644)
            // Not the built file itself: its folder may be closed to other users. And not copied by this process, whose
            // children would hold it open for writing.
            let executable = folder.file("upcastd")
            _ = try ChildProcess.run("cp", [ProductExecutable.upcastd.path, executable])
            let user = ["--reuid=7001", "--regid=7001", "--clear-groups", "--"]
            let daemon = try ChildProcess("setpriv", user + [executable, "--config", path])
            try waitFor("upcastd to answer", evidence: { daemon.errors }) {
                (try? UnixHTTPClient.get("/status", socket: folder.file("b.sock")))?.status == 200
            }
            #expect(try owner(daemon.processID) == (isDumpable ? 7001 : 0))
            let reader = ["cat", "/proc/\(daemon.processID)/environ"]
            let read = try ChildProcess("setpriv", user + reader)
            #expect((read.waitForExit(within: 10) == .code(0)) == isDumpable, "\(read.errors)")
            // What the daemon reads of itself it still has.
            let status = try UnixHTTPClient.get("/status", socket: folder.file("b.sock")).body
            let memory = try #require(
                try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any])["memory"] as? [String: Any]
            #expect((memory?["resident_bytes"] as? Int ?? 0) > 1_000_000, "\(status)")
            #expect(try daemon.stop(SIGTERM, within: 15) == .code(0))
        }
    }
}
