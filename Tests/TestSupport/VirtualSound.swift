import Foundation

/// A PulseAudio server without hardware: a socket of its own, and a sink that plays to nobody.
package final class VirtualSound: Sendable {
    /// The variables by which programs find it.
    package let environment: [String: String]
    private let folder: TemporaryDirectory
    private let server: ChildProcess

    package init() throws {
        let folder = try TemporaryDirectory("pulse")
        let socket = folder.file("native")
        // Realtime scheduling needs D-Bus, and is nothing that a test may have.
        let script = try folder.write(
            """
            load-module module-native-protocol-unix auth-anonymous=1 socket=\(socket)
            load-module module-null-sink sink_name=sink rate=48000

            """, to: "default.pa")
        let home = ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        let server = try ChildProcess(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
                "--realtime=no", "--high-priority=no", "-F", script,
            ], environment: home)
        (self.folder, self.server) = (folder, server)
        environment = home.merging(["PULSE_SERVER": "unix:\(socket)"]) { $1 }
        try waitFor("PulseAudio to listen", evidence: { server.errorTail }) {
            guard server.isRunning else { throw TestFailure("pulseaudio ended. \(server.errorTail)") }
            return FileManager.default.fileExists(atPath: socket) && server.isRunning
        }
    }

    deinit { server.signal(SIGTERM) }
}
