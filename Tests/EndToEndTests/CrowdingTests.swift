import Foundation
import Glibc
import TestSupport
import Testing

/// Promise: a user without a role cannot keep apps from raising the curtain.
@Suite struct CrowdingTests {
    private static let (app, stranger) = (7001, 7005)

    /// An app that does not wait for a full queue, while other processes do all that they may.
    @Test(
        .inItsTurn, .enabled(if: geteuid() == 0, "only root can be other users"),
        arguments: [("half", 24)])
    func aUserWithoutARoleKeepsNobodyOut(crowd mode: String, of count: Int) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("crowd")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.control["apps"] = "\"\(Self.app)\""
            settings.control["socket_mode"] = "\"0666\""
            let daemon = try Daemon(settings)
            #expect(chmod((daemon.controlSocket as NSString).deletingLastPathComponent, 0o711) == 0)
            let program = try ProductExecutable.controlCrowd.path
            func raise() throws -> String {
                try ChildProcess.run(program, [daemon.controlSocket, "\(Self.app)", "raise", "60"])
            }
            #expect(try raise() == "60 HTTP/1.1 200\n")
            let crowd = try (0..<count).map { _ in
                try ChildProcess(program, [daemon.controlSocket, "\(Self.stranger)", mode])
            }
            try waitFor("the crowd", evidence: { crowd.map(\.output).joined() }) { try isCrowded(daemon) }
            #expect(try raise() == "60 HTTP/1.1 200\n")
            for one in crowd { try one.stop(SIGKILL) }
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// Whether somebody waits at the socket, or is connected, beside this process.
    private func isCrowded(_ daemon: Daemon) throws -> Bool {
        let sockets = try String(contentsOfFile: "/proc/net/unix", encoding: .utf8)
        return sockets.split(separator: "\n").count { $0.hasSuffix(daemon.controlSocket) } > 8
    }
}
