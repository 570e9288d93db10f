internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Takes connections from the Unix socket, on a thread of its own, which does nothing else: the queue in which they
/// wait stays short, whoever floods it. A connect that may not wait finds it full otherwise, and fails (EAGAIN).
///
/// Whoever has no place (`ControlPlaces`) is told so and gone before the server hears of it.
final class ControlDoor: Sendable {
    /// As long as the kernel allows (net.core.somaxconn).
    static let backlog: CInt = 4096
    /// Where the process has no descriptor left.
    private static let restMilliseconds: CInt = 20
    /// For somebody to leave who has to go.
    private static let patience = MediaTime.milliseconds(50)

    private let listener: OwnedDescriptor
    private let wakeUp: EventDescriptor
    private let places: Monitor<ControlPlaces>
    private let roles: ControlRoleTable
    private let refusal: [UInt8]
    private let admit: @Sendable (CInt, ControlPeer, ControlPlaces.Visitor) -> Void
    private let thread = Monitor<WorkerThread?>(nil)

    /// - Parameter admit: gets a socket that is its own from now on, and frees its place when that is closed.
    init(
        _ listener: consuming OwnedDescriptor, _ places: Monitor<ControlPlaces>, _ roles: ControlRoleTable,
        admit: @escaping @Sendable (CInt, ControlPeer, ControlPlaces.Visitor) -> Void
    ) throws(Errno) {
        wakeUp = try EventDescriptor()
        // Also one that a service manager has made, with a shorter queue.
        guard Glibc.listen(listener.raw, Self.backlog) == 0 else { throw Errno.current }
        self.listener = listener
        (self.places, self.roles, self.admit) = (places, roles, admit)
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

    /// Takes nobody any more.
    func close() {
        wakeUp.signal()
        thread.withLock { $0.take() }?.join()
    }

    private func run() {
        while true {
            var events = [
                pollfd(fd: wakeUp.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&events, 2, -1)
            guard events[0].revents == 0 else { return }
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
        let visitor = ControlPlaces.Visitor(peer)
        // Those without a role cannot fill it, and nothing waits for them.
        if visitor.hasRole {
            _ = places.wait(until: MonotonicClock().now() + Self.patience) { $0.isFull ? nil : true }
        }
        guard places.withLock({ $0.take(visitor) }) else {
            // There is room for this in a socket that nothing was written to.
            _ = unsafe send(socket.raw, refusal, refusal.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            return
        }
        admit(socket.relinquish(), peer, visitor)
    }
}
