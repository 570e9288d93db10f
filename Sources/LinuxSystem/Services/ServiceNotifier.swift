internal import Glibc
package import MediaCore

/// Notifies the service manager: sends datagrams to the socket in NOTIFY_SOCKET, with the protocol of sd_notify(3). Any
/// thread.
///
/// Each datagram uses a new socket, as in sd_notify, so that it reaches a restarted manager. If the manager is busy, a
/// call waits for a quarter of a second at most.
package struct ServiceNotifier: Sendable {
    /// One assignment. Several share a datagram, and take effect together.
    package enum News: Equatable, Sendable {
        /// The start or a reload is complete.
        case ready
        /// A reload began at this time of CLOCK_MONOTONIC.
        case reloading(since: MediaTime)
        case stopping
        /// One line for people, shown by `systemctl status`.
        case status(String)
        /// The process is healthy. Must be sent more often than the watchdog's timeout.
        case watchdog
        /// The current start or stop may take this long from now, whatever the unit says.
        case needs(MediaTime)
    }

    private static let sendTimeout = timeval(tv_sec: 0, tv_usec: 250_000)
    private let address: UnixAddress

    /// Nil if NOTIFY_SOCKET is not set or does not name a Unix socket.
    package init?(environment: [String: String]) {
        guard let name = environment["NOTIFY_SOCKET"], let first = name.utf8.first else { return nil }
        let address: UnixAddress? =
            switch first {
            case UInt8(ascii: "/"): UnixAddress(path: name)
            case UInt8(ascii: "@"): UnixAddress(abstractName: name.dropFirst())
            default: nil
            }
        guard let address else { return nil }
        self.address = address
    }

    /// Sends one datagram.
    ///
    /// - Throws: if no process listens, or the manager does not receive the datagram in time.
    package func tell(_ news: [News]) throws(Errno) {
        let text = Array(news.map(Self.line).joined(separator: "\n").utf8)
        let socket = try OwnedDescriptor(
            checking: Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var limit = Self.sendTimeout
        unsafe setsockopt(socket.raw, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = unsafe address.withSocketAddress { unsafe Glibc.connect(socket.raw, $0, $1) }
        guard result == 0 else { throw Errno.current }
        let sent = unsafe text.withUnsafeBytes { bytes in
            unsafe send(socket.raw, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
        guard sent == text.count else { throw Errno.current }
    }

    static func line(_ news: News) -> String {
        switch news {
        case .ready: "READY=1"
        case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since.nanoseconds / 1000)"
        case .stopping: "STOPPING=1"
        // A line break would start another assignment.
        case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
        case .watchdog: "WATCHDOG=1"
        case .needs(let time): "EXTEND_TIMEOUT_USEC=\(time.nanoseconds / 1000)"
        }
    }
}

/// The watchdog of the service manager (WATCHDOG_USEC, sd_watchdog_enabled(3)).
package struct ServiceWatchdog: Equatable, Sendable {
    /// The service manager kills the process after this time without a notification.
    package let timeout: MediaTime

    /// Nil without a watchdog, or if the watchdog is for another process.
    package init?(environment: [String: String], processID: Int = Int(getpid())) {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0,
            microseconds < Int64.max / 1000
        else { return nil }
        if let owner = environment["WATCHDOG_PID"], Int(owner) != processID { return nil }
        timeout = .microseconds(microseconds)
    }
}
