import Foundation

/// A logind on a private bus. A test determines its sessions.
package final class VirtualLogind: Sendable {
    /// The variables by which programs find it, and no session of this machine.
    package let environment: [String: String]
    private let bus: SessionBus
    private let program: ChildProcess

    /// - Parameter own: the session of the programs that are started; "" for none, as for a user service.
    package init(own: String = "") throws {
        let bus = try SessionBus()
        self.bus = bus
        environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "XDG_SESSION_ID": own]
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "desktop/logind.py").path
        let program = try ChildProcess("/usr/bin/python3", [script], environment: environment)
        self.program = program
        try waitFor("the name of logind", evidence: { program.errorTail }) {
            guard program.isRunning else { throw TestFailure("logind.py ended. \(program.errorTail)") }
            return bus.has("org.freedesktop.login1")
        }
    }

    deinit { program.signal(SIGTERM) }

    /// logind's type of a session. Only `x11` is at a seat.
    package enum Kind: String { case x11, tty, unspecified }

    package func begin(_ session: String, _ kind: Kind = .x11) throws {
        try call("Begin", "string:\(session)", "string:\(kind.rawValue)")
    }
    /// Closes a session, while some of its processes remain.
    package func close(_ session: String) throws { try call("Close", "string:\(session)") }
    package func end(_ session: String) throws { try call("End", "string:\(session)") }

    /// - Parameter property: `LockedHint` or `Active`.
    package func set(_ session: String, _ property: String, _ value: Bool) throws {
        try call("Set", "string:\(session)", "string:\(property)", "boolean:\(value)")
    }

    /// How often programs have asked for the session of the user's screen.
    package var looks: Int {
        get throws {
            let answer = try call("Looks")
            guard let last = answer.split(whereSeparator: \.isWhitespace).last, let count = Int(last) else {
                throw TestFailure("logind.py answered \(answer)")
            }
            return count
        }
    }

    @discardableResult
    private func call(_ member: String, _ arguments: String...) throws -> String {
        try ChildProcess.run(
            "dbus-send",
            [
                "--bus=\(bus.address)", "--print-reply", "--dest=org.freedesktop.login1", "/org/freedesktop/login1",
                "test.Sessions.\(member)",
            ] + arguments)
    }
}
