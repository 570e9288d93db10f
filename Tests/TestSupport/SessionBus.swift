import Foundation

/// A private D-Bus session bus, on which a test acts as a desktop.
package final class SessionBus: Sendable {
    /// The variables by which programs find this bus, and no other one.
    package let environment: [String: String]
    package let address: String
    private let folder: TemporaryDirectory
    private let server: ChildProcess

    /// - Parameters:
    ///   - environment: the variables of the bus, and of the programs that it starts.
    ///   - services: the services that it starts on demand; nil for all installed ones.
    package init(environment variables: [String: String] = [:], services: [String]? = nil) throws {
        let folder = try TemporaryDirectory("bus")
        self.folder = folder
        let socket = folder.file("bus")
        address = "unix:path=\(socket)"
        var kind = ["--session"]
        if let services { kind = ["--config-file=\(try Self.configuration(folder, services))"] }
        let server = try ChildProcess(
            "dbus-daemon", kind + ["--nofork", "--address=unix:path=\(socket)"], environment: variables)
        self.server = server
        environment = [
            "DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.file("none"))",
        ]
        try waitFor("dbus-daemon to listen", evidence: { server.errorTail }) {
            guard server.isRunning else { throw TestFailure("dbus-daemon ended. \(server.errorTail)") }
            return FileManager.default.fileExists(atPath: socket)
        }
    }

    deinit {
        thaw()
        server.signal(SIGTERM)
    }

    /// Freezes the bus daemon: it accepts connections, but does not answer, until `thaw`.
    package func freeze() throws {
        try waitFor("dbus-daemon to answer") { has("org.freedesktop.DBus") }
        server.signal(SIGSTOP)
    }
    package func thaw() { server.signal(SIGCONT) }

    /// The configuration of a bus that starts only these services.
    private static func configuration(_ folder: TemporaryDirectory, _ services: [String]) throws -> String {
        for service in services {
            let installed = URL(filePath: "/usr/share/dbus-1/services/\(service).service")
            try Data(contentsOf: installed).write(to: URL(filePath: folder.file("\(service).service")))
        }
        return try folder.write(
            """
            <busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><servicedir>\(folder.path)</servicedir>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>

            """, to: "bus.conf")
    }

    /// Starts a program that owns the name of an interface, and has one method, at the usual path.
    ///
    /// - Parameters:
    ///   - method: the method in Python, with its decorator. `sys.argv[1]` is the argument.
    package func serve(_ interface: String, _ method: String, argument: String = "") throws -> ChildProcess {
        let path = "/" + interface.replacing(".", with: "/")
        let lines = method.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        let service = try ChildProcess(
            // Only Debian's own Python has the modules.
            "/usr/bin/python3",
            [
                "-c",
                """
                import dbus, dbus.service, dbus.mainloop.glib, os, sys
                from gi.repository import GLib
                dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
                class Service(dbus.service.Object):
                \(lines)
                service = Service(dbus.SessionBus(), "\(path)")
                name = dbus.service.BusName("\(interface)", dbus.SessionBus())
                GLib.MainLoop().run()
                """, argument,
            ], environment: environment)
        try waitFor("\(interface)", while: service) { has(interface) }
        return service
    }

    /// Whether a program owns the name.
    package func has(_ name: String) -> Bool {
        let call = [
            "--bus=\(address)", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.NameHasOwner", "string:\(name)",
        ]
        return (try? ChildProcess.run("dbus-send", call))?.contains("true") ?? false
    }

    /// Sends a signal to all subscribers.
    ///
    /// - Parameter argument: in the syntax of dbus-send, such as `boolean:true`.
    package func signal(_ interface: String, _ member: String, _ argument: String) throws {
        let path = "/" + interface.replacing(".", with: "/")
        _ = try ChildProcess.run(
            "dbus-send", ["--bus=\(address)", "--type=signal", path, "\(interface).\(member)", argument])
    }
}
