import Foundation
import LinuxSystem

/// A PulseAudio server without hardware, with its own socket, and a sink without listeners.
package final class VirtualSound: Sendable {
    /// The variables by which programs find the server.
    package let environment: [String: String]
    private let folder: TemporaryDirectory
    private let server: Monitor<ChildProcess>

    package init() throws {
        let folder = try TemporaryDirectory("pulse")
        self.folder = folder
        server = Monitor(try Self.start(folder))
        environment = Self.home(folder).merging(["PULSE_SERVER": "unix:\(Self.socket(folder))"]) { $1 }
    }

    deinit {
        thaw()
        server.withLock { $0.signal(SIGTERM) }
    }

    /// Ends the server, and starts it again once `meanwhile` has returned.
    package func restart(meanwhile: () throws -> Void) throws {
        try server.withLock { $0 }.stop(SIGKILL)
        try meanwhile()
        // This file is left by a server that was killed.
        try? FileManager.default.removeItem(atPath: Self.socket(folder))
        let next = try Self.start(folder)
        server.withLock { $0 = next }
    }

    /// Freezes the server: it accepts connections, but does not answer, until `thaw`.
    package func freeze() throws {
        // Its socket exists before it listens.
        try waitFor("PulseAudio to answer") {
            (try? ChildProcess.run("pactl", ["-s", environment["PULSE_SERVER"] ?? "", "info"])) != nil
        }
        server.withLock { $0.signal(SIGSTOP) }
    }
    package func thaw() { server.withLock { $0.signal(SIGCONT) } }

    private static func socket(_ folder: TemporaryDirectory) -> String { folder.file("native") }
    private static func home(_ folder: TemporaryDirectory) -> [String: String] {
        ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
    }

    private static func start(_ folder: TemporaryDirectory) throws -> ChildProcess {
        let script = try folder.write(
            """
            load-module module-native-protocol-unix auth-anonymous=1 socket=\(socket(folder))
            load-module module-null-sink sink_name=sink rate=48000

            """, to: "default.pa")
        // Realtime scheduling needs D-Bus, and tests must not use it.
        let server = try ChildProcess(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
                "--realtime=no", "--high-priority=no", "-F", script,
            ], environment: home(folder))
        try waitFor("PulseAudio to listen", evidence: { server.errorTail }) {
            guard server.isRunning else { throw TestFailure("pulseaudio ended. \(server.errorTail)") }
            return FileManager.default.fileExists(atPath: socket(folder)) && server.isRunning
        }
        return server
    }
}
