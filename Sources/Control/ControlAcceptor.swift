internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Accepts the Unix socket's connections on its own thread, `up-accept`, which does nothing else. The backlog therefore
/// stays short, however many clients connect. With a full backlog, a non-blocking connect fails with EAGAIN.
///
/// A connection that exceeds its user's `ConnectionQuota` is answered with 503 here and closed.
final class ControlAcceptor: Sendable {
    /// The kernel lowers it to net.core.somaxconn.
    static let backlog: CInt = 4096
    /// The time until the next attempt if the process has no descriptor left.
    private static let restMilliseconds: CInt = 20
    /// How long a user with a role waits for a free connection. The event loop makes one free in its next turn, which
    /// comes late on a busy machine.
    private static let patience = MediaTime.milliseconds(500)

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
        // A service manager may have created the socket with a shorter queue.
        guard Glibc.listen(listener.raw, Self.backlog) == 0 else { throw Errno.current }
        // The event loop would close sent descriptors, and the sender can make a close block. Before Linux 6.16, the
        // kernel lets every user send them.
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
                // Accepts only some at a time, so that a flood does not delay the end of the thread.
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
        // Users without a role cannot fill the quota, so nothing waits for them.
        if owner.hasRole {
            _ = quota.wait(until: MonotonicClock().now() + Self.patience) { $0.isFull ? nil : true }
        }
        guard quota.withLock({ $0.acquire(owner) }) else {
            // A socket without earlier writes has room for the refusal.
            _ = unsafe send(socket.raw, refusal, refusal.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            _ = ForeignDescriptor(connection: socket, closer)
            return
        }
        admit(socket.relinquish(), peer, owner)
    }
}
