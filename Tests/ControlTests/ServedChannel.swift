import ControlProtocol
import NIOCore
import NIOEmbedded

@testable import Control

extension EmbeddedChannel {
    /// A connection to a control server without a socket or a clock.
    ///
    /// - Parameters:
    ///   - token: asked for, as over TCP; nil for the Unix socket.
    ///   - given: the same, where they are replaced.
    static func served(
        _ routes: ControlRoutes = .standard(status: { .full }, readiness: { .ready }),
        limits: ControlLimits = ControlLimits(), token: ControlToken? = nil,
        metricsToken: ControlToken? = nil, tokens given: ControlTokens? = nil,
        onRefusedToken: @escaping @Sendable (RefusedToken) -> Void = { _ in }
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let tokens = given ?? token.map { ControlTokens(operator: $0, metrics: metricsToken) }
        try channel.pipeline.syncOperations.addExchange(
            routes: routes, limits: limits, tokens: tokens, onRefusedToken: onRefusedToken,
            peer: tokens == nil ? .operator : ControlPeer(roles: []))
        let address: SocketAddress =
            tokens == nil ? try .init(unixDomainSocketPath: "/x") : try .init(ipAddress: "127.0.0.1", port: 1)
        try channel.connect(to: address).wait()
        return channel
    }

    /// Ends it for good: what waits for a client that is gone would keep it for ever.
    func end() {
        embeddedEventLoop.advanceTime(by: .seconds(60))
        _ = try? finish(acceptAlreadyClosed: true)
    }

    /// What the server has written since the last call.
    func written() throws -> String {
        var text = ""
        while let part = try readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        return text
    }
}
