package import MediaCore

/// Where capture clients connect, and how long the daemon waits for them.
package struct IngestConfiguration: Equatable, Sendable {
    package var socket = "/run/upcast/capture.sock"
    /// Permission bits of the socket file.
    package var socketMode: UInt32 = 0o660
    /// A client must send `started` within this time.
    package var startTimeout = MediaTime.milliseconds(5000)
    /// A client that sends nothing for this long is disconnected; zero waits for ever: a paused client and a screen
    /// that stands still are silent, and a client that is gone is noticed at once.
    package var idleTimeout = MediaTime.zero

    package init() {}
}

/// Where operators connect.
package struct ControlConfiguration: Equatable, Sendable {
    package var socket = "/run/upcast/control.sock"
    /// Permission bits of the socket file.
    package var socketMode: UInt32 = 0o660
    /// Where it answers over TCP as well.
    package var listen: ListenAddress?
    /// A file with the token that clients over TCP must show; needed with `listen`.
    package var tokenFile: String?
    /// A file with a token that may read the metrics over TCP, and do nothing else.
    package var metricsTokenFile: String?
    /// Where destinations that are added by a request may have files with secrets and certificates.
    package var secretsFolder: String?
    /// Who may do everything; empty, with the two below, for whoever the socket's permissions let in.
    package var operators = RoleMembers()
    /// Who may look and hide things.
    package var clients = RoleMembers()
    /// Who may hide things, and know whether anything is captured.
    package var apps = RoleMembers()
    /// Pixels of the longer side of snapshots; zero for none.
    package var snapshotSize = 640

    package init() {}
}

/// What is logged, and how.
package struct LogConfiguration: Equatable, Sendable {
    /// Raw values are swift-log's names.
    package enum Level: String, CaseIterable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }
    package enum Format: String, CaseIterable, Sendable {
        case text, json
    }

    package var level = Level.info
    package var format = Format.text

    package init() {}
}

/// The cap that the memory plan must fit under.
package struct MemoryConfiguration: Equatable, Sendable {
    package var capBytes = 50 * 1024 * 1024

    package init() {}
}

/// How a broadcast ends.
package struct StopConfiguration: Equatable, Sendable {
    /// What destinations may take to send what is queued.
    package var drain = MediaTime.milliseconds(3000)

    package init() {}
}
