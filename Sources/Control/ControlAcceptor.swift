internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Accepts the Unix socket's connections on a thread of its own, `up-accept`, which does nothing else. So the backlog
/// stays short, however many connect: a non-blocking connect fails with EAGAIN when the backlog is full.
///
/// A connection that exceeds its user's `ConnectionQuota` is answered with 503 here and closed.
final class ControlAcceptor: Sendable {
    /// The kernel lowers it to net.core.somaxconn.
    static let backlog: CInt = 4096
    /// Until the next try if the process has no descriptor left.
    private static let restMilliseconds: CInt = 20
    /// How long a user with a role waits for a free connection.
    private static let patience = MediaTime.milliseconds(50)

    private let listener: OwnedDescriptor
    private let wakeUp: EventDescriptor
    private let quota: Monitor<ConnectionQuota>
    private let roles: ControlRoleTable
    private let refusal: [UInt8]
    private let admit: @Sendable (CInt, ControlPeer, ConnectionQuota.Owner) -> Void
    private let thread = Monitor<WorkerThread?>(nil)
    /// Marks the work of `up-accept` between two waits.
    let work = WorkMark("the thread that accepts control connections")
    /// Closes refused connections.
    private let closer = DescriptorCloser()

    /// - Parameter admit: owns the socket from now on, and releases its quota when the socket is closed.
    init(
        _ listener: consuming OwnedDescriptor, _ quota: Monitor<ConnectionQuota>, _ roles: ControlRoleTable,
        admit: @escaping @Sendable (CInt, ControlPeer, ConnectionQuota.Owner) -> Void
    ) throws(Errno) {
        wakeUp = try EventDescriptor()
        // Also one that a service manager has made, with a shorter queue.
        guard Glibc.listen(listener.raw, Self.backlog) == 0 else { throw Errno.current }
        // The event loop would close them, and a close can wait for as long as the sender likes. Before Linux 6.16
        // nothing keeps a user from sending them.
        UnixSocket.refuseDescriptors(listener)
        self.listener = listener
        (self.quota, self.roles, self.admit) = (quota, roles, admit)
        let body = ControlResponse.failure(
            503, "too_many_connections", "this user has as many connections open as it may; try again"
        ).body
        refusal =
            Array(
                """
                HTTP/1.1 503 Service Unavailable\r
                Content-Type: application/json\r
                Content-Length: \(body.count)\r
                Cache-Control: no-store\r
                Connection: close\r
                \r

                """.utf8) + body
    }

    func open() throws(Errno) {
        let worker = try WorkerThread(name: "up-accept") { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// Accepts no more connections; returns when the thread has ended.
    func close() {
        wakeUp.signal()
        thread.withLock { $0.take() }?.join()
    }

    private func run() {
        defer { work.end() }
        while true {
            work.end()
            var events = [
                pollfd(fd: wakeUp.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&events, 2, -1)
            work.begin()
            guard events[0].revents == 0 else { return }
            guard closer.waitForRoom(.milliseconds(Int64(Self.restMilliseconds))) else { continue }
            do {
                // Some at a time: a flood must not keep the end from being seen.
                for _ in 0..<16 {
                    guard let socket = try UnixSocket.accept(listener) else { break }
                    take(socket)
                }
            } catch {
                _ = unsafe poll(&events, 1, Self.restMilliseconds)
            }
        }
    }

    private func take(_ socket: consuming OwnedDescriptor) {
        let credentials = PeerCredentials(socket: socket.raw, withGroups: roles.hasGroups)
        let peer = ControlPeer(roles: roles.roles(of: credentials), credentials: credentials)
        let owner = ConnectionQuota.Owner(peer)
        // Those without a role cannot fill it, and nothing waits for them.
        if owner.hasRole {
            _ = quota.wait(until: MonotonicClock().now() + Self.patience) { $0.isFull ? nil : true }
        }
        guard quota.withLock({ $0.acquire(owner) }) else {
            // There is room for this in a socket that nothing was written to.
            _ = unsafe send(socket.raw, refusal, refusal.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            _ = ForeignDescriptor(connection: socket, closer)
            return
        }
        admit(socket.relinquish(), peer, owner)
    }
}
