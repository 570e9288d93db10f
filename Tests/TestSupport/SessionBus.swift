import Foundation

/// A D-Bus session bus of its own, on which a test speaks as a desktop does.
package final class SessionBus: Sendable {
    /// The variables by which programs find it, and no other bus.
    package let environment: [String: String]
    private let address: String
    private let folder: TemporaryDirectory
    private let server: ChildProcess

    package init() throws {
        let folder = try TemporaryDirectory("bus")
        self.folder = folder
        let socket = folder.file("bus")
        address = "unix:path=\(socket)"
        let server = try ChildProcess("dbus-daemon", ["--session", "--nofork", "--address=unix:path=\(socket)"])
        self.server = server
        environment = [
            "DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.file("none"))",
        ]
        try waitFor("dbus-daemon to listen", evidence: { server.errorTail }) {
            guard server.isRunning else { throw TestFailure("dbus-daemon ended. \(server.errorTail)") }
            return FileManager.default.fileExists(atPath: socket)
        }
    }

    deinit { server.signal(SIGTERM) }

    /// Sends a signal to all who listen.
    ///
    /// - Parameter argument: as dbus-send takes it, such as `boolean:true`.
    package func signal(_ interface: String, _ member: String, _ argument: String) throws {
        let path = "/" + interface.replacing(".", with: "/")
        _ = try ChildProcess.run(
            "dbus-send", ["--bus=\(address)", "--type=signal", path, "\(interface).\(member)", argument])
    }
}
