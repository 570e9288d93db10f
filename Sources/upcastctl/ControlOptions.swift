import ArgumentParser
import Glibc

/// Which daemon a command asks.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's control socket (default: $UPCAST_CONTROL_SOCKET, or /run/upcast/control.sock).",
            valueName: "path"))
    var socket: String?

    var client: ControlClient {
        ControlClient(path: socket ?? Self.socketFromEnvironment ?? "/run/upcast/control.sock")
    }

    private static var socketFromEnvironment: String? {
        guard let value = unsafe getenv("UPCAST_CONTROL_SOCKET") else { return nil }
        let path = unsafe String(cString: value)
        return path.isEmpty ? nil : path
    }
}
