import Foundation
import TestSupport
import Testing

/// A daemon that records into a folder, and that restarts while a capture client goes on.
final class RecordingDaemon {
    private let folder: TemporaryDirectory
    private(set) var daemon: Daemon

    init() throws {
        folder = try TemporaryDirectory("recording")
        var settings = DaemonSettings()
        settings.destinations = [("file", ["url": "\"file:\(folder.file("a.flv"))\""])]
        daemon = try Daemon(settings)
    }

    /// Captures a display until the broadcast has begun.
    func capture(_ screen: VirtualScreen, _ options: [String] = []) throws -> ChildProcess {
        let client = try ChildProcess(
            ProductExecutable.upcastScreen.path,
            ["--display", screen.display, "--socket", daemon.ingestSocket, "--no-pointer"] + options)
        try waitFor("the first broadcast", client) { daemon.log.contains("broadcast started") }
        return client
    }

    /// Waits while the client runs.
    func waitFor(_ what: String, _ client: ChildProcess, _ isSo: () throws -> Bool) throws {
        try TestSupport.waitFor(what, while: client, evidence: { self.daemon.log }) {
            return try isSo()
        }
    }

    /// Ends the daemon, and waits until the client has noticed.
    func end(while client: ChildProcess) throws {
        #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        try waitFor("the client to notice", client) {
            client.errors.split(separator: "\n").contains {
                $0.contains("; waiting for it to come back") && !$0.contains("the X server")
            }
        }
    }

    func startAgain() throws { daemon = try Daemon(after: daemon) }

    /// Ends the client, then the daemon.
    ///
    /// - Returns: the paths of all recordings.
    func recordings(after client: ChildProcess) throws -> [String] {
        client.signal(SIGINT)
        #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
        #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).map(folder.file)
    }
}
