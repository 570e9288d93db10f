package import MediaCore

/// The socket of capture clients and its timeouts.
package struct IngestConfiguration: Equatable, Sendable {
    package var socket = "/run/upcast/capture.sock"
    /// Permission bits of the socket file.
    package var socketMode: UInt32 = 0o660
    /// Clients must send `started` within this time.
    package var startTimeout = MediaTime.milliseconds(5000)
    /// Clients that send nothing for this long are disconnected; zero disables the timeout. Paused clients and
    /// unchanged screens send nothing. The daemon notices a closed connection without this timeout.
    package var idleTimeout = MediaTime.zero

    package init() {}
}

/// The control server: sockets, roles and tokens.
package struct ControlConfiguration: Equatable, Sendable {
    package var socket = "/run/upcast/control.sock"
    /// Permission bits of the socket file.
    package var socketMode: UInt32 = 0o660
    /// The TCP address; nil disables TCP.
    package var listen: ListenAddress?
    /// A file with the token of TCP clients. Required with `listen`.
    package var tokenFile: String?
    /// A file with a token that allows only /metrics over TCP.
    package var metricsTokenFile: String?
    /// The folder for secrets and certificates of destinations from requests.
    package var secretsFolder: String?
    /// Who may do everything. If all three lists are empty, everyone who can connect may do everything.
    package var operators = RoleMembers()
    /// Who may read the status and hide content.
    package var clients = RoleMembers()
    /// Who may hide content and read the capture state.
    package var apps = RoleMembers()
    /// The longer side of snapshots in pixels; zero disables snapshots.
    package var snapshotSize = 640

    package init() {}
}

/// Log level and format.
package struct LogConfiguration: Equatable, Sendable {
    /// Raw values are the level names of swift-log.
    package enum Level: String, CaseIterable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }
    package enum Format: String, CaseIterable, Sendable {
        /// As `text`; with fields if standard error is the systemd journal.
        case auto
        case text, json
    }

    package var level = Level.info
    package var format = Format.auto

    package init() {}
}

/// The memory cap. The memory plan must fit under it.
package struct MemoryConfiguration: Equatable, Sendable {
    package var capBytes = 50 * 1024 * 1024

    package init() {}
}

/// How a broadcast ends.
package struct StopConfiguration: Equatable, Sendable {
    /// How long destinations have to send queued packets.
    package var drain = MediaTime.milliseconds(3000)

    package init() {}
}
