package import ControlProtocol
package import Glibc
package import LinuxSystem
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// HTTP/1.1 on a Unix socket, on one thread of its own: one request a connection, all bounded by `ControlLimits`.
///
/// It only reads what its routes give it; a client that is slow, silent or hostile costs its own connection.
/// Stop it before it goes away.
package final class ControlServer: Sendable {
    private let path: String
    private let mode: mode_t
    private let limits: ControlLimits
    private let routes: ControlRoutes
    private let running = Monitor<Running?>(nil)
    private let connections = ConnectionCount()

    private struct Running: Sendable {
        let group: MultiThreadedEventLoopGroup
        let channel: any Channel
        /// The socket file is ours to remove.
        let ownsFile: Bool
    }

    /// - Parameter mode: permission bits of the socket file.
    package init(path: String, mode: mode_t, routes: ControlRoutes, limits: ControlLimits = ControlLimits()) {
        self.path = path
        self.mode = mode
        self.routes = routes
        self.limits = limits
    }

    /// With the standard routes; both closures run on the server's thread and must not wait.
    package convenience init(
        path: String, mode: mode_t, status: @escaping @Sendable () -> StatusReport,
        readiness: @escaping @Sendable () -> Readiness
    ) {
        self.init(path: path, mode: mode, routes: .standard(status: status, readiness: readiness))
    }

    deinit { precondition(running.withLock { $0 == nil }, "the control server was not stopped") }

    /// Creates the socket file (replacing one that nobody listens at) and answers from then on. Call from a plain
    /// thread.
    ///
    /// - Parameter passed: a listening socket that somebody else made, ours from now on; its file stays theirs.
    package func start(on passed: consuming OwnedDescriptor? = nil) throws(ControlServerError) {
        let ownsFile = passed == nil
        let listener: OwnedDescriptor
        if let passed {
            listener = passed
        } else {
            do {
                listener = try UnixSocket.listen(path: path, mode: mode, backlog: CInt(limits.maxConnections))
            } catch {
                throw ControlServerError(description: "control socket: \(error)")
            }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try bootstrap(group).withBoundSocket(listener.relinquish()).wait()
            running.withLock { $0 = Running(group: group, channel: channel, ownsFile: ownsFile) }
        } catch {
            try? group.syncShutdownGracefully()
            throw ControlServerError(description: "cannot serve the control socket \(path): \(error)")
        }
    }

    /// Removes the socket file, closes every connection and ends the thread. Call from a plain thread; a second call
    /// does nothing.
    package func stop() {
        guard let running = running.withLock({ $0.take() }) else { return }
        // Before the close: from the close on, the path may belong to another daemon.
        if running.ownsFile { unsafe unlink(path) }
        try? running.channel.close().wait()
        try? running.group.syncShutdownGracefully()
    }

    private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.maxMessagesPerRead, value: 4)
            // Without it a client that shuts its writing side down would lose the answer.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { [routes, limits, connections] channel in
                let isFull = connections.enter() > limits.maxConnections
                channel.closeFuture.whenComplete { _ in connections.leave() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addExchange(
                        routes: routes, limits: limits,
                        refusal: isFull
                            ? .failure(
                                503, "too_many_connections", "\(limits.maxConnections) connections are open; try again")
                            : nil)
                }
            }
    }
}

/// Why the control server did not start, as a sentence.
package struct ControlServerError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}

/// How many connections are open; counted on the event loop, read anywhere.
private final class ConnectionCount: Sendable {
    private let open = Atomic<Int>(0)

    /// The number with this one.
    func enter() -> Int { open.add(1, ordering: .relaxed).newValue }
    func leave() { open.subtract(1, ordering: .relaxed) }
}

extension ChannelPipeline.SynchronousOperations {
    /// Everything between the socket and the routes.
    func addExchange(routes: ControlRoutes, limits: ControlLimits, refusal: ControlResponse? = nil) throws {
        let byteLimit = ByteLimitHandler(limits)
        try addHandlers(
            byteLimit, HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
            ExchangeHandler(routes: routes, limits: limits, byteLimit: byteLimit, refusal: refusal))
    }
}
