package import ControlProtocol
internal import Glibc
package import LinuxSystem
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// HTTP/1.1 on a Unix socket, and optionally on TCP, on its own thread. It serves one request per connection, within
/// `ControlLimits`.
///
/// It only reads what its routes return. A slow, silent or hostile client only affects its own connection. The server
/// must be stopped before it is released.
package final class ControlServer: Sendable {
    private let path: String
    private let mode: UInt32
    private let limits: ControlLimits
    private let routes: ControlRoutes
    private let running = Monitor<Running?>(nil)
    private let remote: RemoteControl?
    private let connections = OpenConnections()
    /// The turn of the event loop, from its request until it runs.
    private let turn = WorkMark("the event loop of the control server")
    private let roles: ControlRoleTable

    private struct Running: Sendable {
        let group: MultiThreadedEventLoopGroup
        let channels: [any Channel]
        let acceptor: ControlAcceptor
        /// Whether this server created the socket file and must remove it.
        let ownsFile: Bool
    }

    /// - Parameters:
    ///   - mode: permission bits of the socket file.
    ///   - remote: the TCP address and its tokens.
    ///   - roles: the roles at the Unix socket.
    package init(
        path: String, mode: UInt32, routes: ControlRoutes, remote: RemoteControl? = nil,
        roles: ControlRoleTable = .open, limits: ControlLimits = ControlLimits()
    ) {
        self.roles = roles
        self.remote = remote
        self.path = path
        self.mode = mode
        self.routes = routes
        self.limits = limits
    }

    /// A server with the standard routes. Both closures run on the server's thread and must not wait.
    package convenience init(
        path: String, mode: UInt32, status: @escaping @Sendable () -> StatusReport,
        readiness: @escaping @Sendable () -> Readiness
    ) {
        self.init(path: path, mode: mode, routes: .standard(status: status, readiness: readiness))
    }

    deinit { precondition(running.withLock { $0 == nil }, "the control server was not stopped") }

    /// Creates the socket file, replacing one without a listener, and starts to answer. Call it from a plain thread.
    ///
    /// - Parameter passed: a listening socket of a service manager. The server owns it from now on, but not its file.
    package func start(on passed: consuming OwnedDescriptor? = nil) throws(ControlServerError) {
        let ownsFile = passed == nil
        let listener: OwnedDescriptor
        if let passed {
            listener = passed
        } else {
            do {
                listener = try UnixSocket.listen(path: path, mode: mode, backlog: ControlAcceptor.backlog)
            } catch {
                throw ControlServerError(description: "control socket: \(error)")
            }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var channels: [any Channel] = []
        // The port opens first, so that it is ready when the socket answers.
        if let remote {
            do {
                let server = remoteBootstrap(group, remote)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                channels.append(try server.bind(host: remote.host, port: remote.port).wait())
            } catch {
                if ownsFile { unsafe unlink(path) }
                try? group.syncShutdownGracefully()
                let why = (error as? IOError).map { "\(Errno($0.errnoCode))" } ?? "\(error)"
                throw ControlServerError(
                    description: "cannot listen at \(remote.host):\(remote.port) (control.listen): \(why)"
                        + "; choose an address of this machine and a free port (ss -ltnp)")
            }
        }
        let acceptor: ControlAcceptor
        do {
            acceptor = try self.acceptor(listener, group)
            try acceptor.open()
        } catch {
            if ownsFile { unsafe unlink(path) }
            for channel in channels { try? channel.close().wait() }
            try? group.syncShutdownGracefully()
            throw ControlServerError(description: "cannot serve the control socket \(path): \(error)")
        }
        running.withLock { [channels] in
            $0 = Running(group: group, channels: channels, acceptor: acceptor, ownsFile: ownsFile)
        }
    }

    /// Visits the work marks of the server's threads. Called several times a second by the one thread that watches
    /// others.
    package func forEachWorkMark(_ body: (WorkMark) -> Void) {
        guard let running = running.withLock({ $0 }) else { return }
        // The last turn has run, so this requests the next one.
        if turn.current == nil {
            turn.begin()
            running.group.next().execute { [turn] in turn.end() }
        }
        body(turn)
        body(running.acceptor.work)
    }

    /// Removes the socket file, closes all connections and ends the thread. Call it from a plain thread. A second call
    /// has no effect.
    ///
    /// - Parameter isProcessEnding: leaves the thread to end with the process. NIO ends it through libdispatch, whose
    ///   worker requests a priority that an unprivileged process may not have, and logs that to standard error.
    package func stop(isProcessEnding: Bool = false) {
        guard let running = running.withLock({ $0.take() }) else { return }
        // Before the close, because the path may belong to another daemon afterwards.
        if running.ownsFile { unsafe unlink(path) }
        running.acceptor.close()
        for channel in running.channels { try? channel.close().wait() }
        let loop = running.group.next()
        try? loop.submit { [connections] in connections.closeAll() }.wait()
        // Their remaining tasks run before this one.
        try? loop.submit {}.wait()
        if !isProcessEnding { try? running.group.syncShutdownGracefully() }
    }

    /// Accepts connections of the Unix socket, and passes each one to the event loop.
    private func acceptor(
        _ listener: consuming OwnedDescriptor, _ group: MultiThreadedEventLoopGroup
    ) throws(Errno) -> ControlAcceptor {
        let quota = Monitor(ConnectionQuota(limits))
        return try ControlAcceptor(listener, quota, roles) { [routes, limits, connections] socket, peer, owner in
            let release = { @Sendable in quota.signal { $0.release(owner) } }
            ClientBootstrap(group: group)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addExchange(
                            routes: routes, limits: limits, connections: connections, peer: peer,
                            refusal: Self.refusal(
                                connections.hasRoom(
                                    for: channel, of: peer.credentials?.processID ?? 0, hasRole: owner.hasRole,
                                    atMost: limits.maxConnections), limits))
                    }
                }
                .withConnectedSocket(socket)
                .whenComplete { result in
                    switch result {
                    case .success(let channel): channel.closeFuture.whenComplete { _ in release() }
                    case .failure: release()
                    }
                }
        }
    }

    private static func refusal(_ hasRoom: Bool, _ limits: ControlLimits) -> ControlResponse? {
        hasRoom
            ? nil
            : .failure(
                503, "too_many_connections",
                "\(limits.maxConnections) connections, or all that are left for TCP, are open; try again")
    }

    /// TCP does not identify users, so the token determines the roles.
    private func remoteBootstrap(_ group: MultiThreadedEventLoopGroup, _ remote: RemoteControl) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.maxMessagesPerRead, value: 4)
            // Otherwise a client that shuts its writing side down would lose the answer.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { [routes, limits, connections] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addExchange(
                        routes: routes, limits: limits, connections: connections, tokens: remote.tokens,
                        onRefusedToken: remote.onRefusedToken, peer: ControlPeer(roles: []),
                        refusal: Self.refusal(
                            connections.hasRoom(
                                for: channel, of: 0, isRemote: true, atMost: limits.maxConnections), limits))
                }
            }
    }
}

/// Why the control server did not start, as a sentence.
package struct ControlServerError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}

extension ChannelPipeline.SynchronousOperations {
    /// Adds all handlers between the socket and the routes.
    func addExchange(
        routes: ControlRoutes, limits: ControlLimits, connections: OpenConnections = OpenConnections(),
        tokens: ControlTokens? = nil, onRefusedToken: @escaping @Sendable (RefusedToken) -> Void = { _ in },
        peer: ControlPeer = .operator, refusal: ControlResponse? = nil
    ) throws {
        let byteLimit = ByteLimitHandler(limits)
        try addHandlers(
            byteLimit, HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
            ExchangeHandler(
                routes: routes, limits: limits, byteLimit: byteLimit, connections: connections, tokens: tokens,
                onRefusedToken: onRefusedToken, peer: peer, refusal: refusal))
    }
}
