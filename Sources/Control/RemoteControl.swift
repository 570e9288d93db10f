internal import LinuxSystem

/// The TCP address of the control server, and the tokens for it.
package struct RemoteControl: Sendable {
    package var host: String
    package var port: Int
    package var tokens: ControlTokens
    /// Called on the server's thread for each request that is refused because of its token. It must not wait.
    package var onRefusedToken: @Sendable (RefusedToken) -> Void = { _ in }

    package init(host: String, port: Int, tokens: ControlTokens) {
        (self.host, self.port, self.tokens) = (host, port, tokens)
    }
}

/// A request without a valid token. It does not hold the token.
package struct RefusedToken: Equatable, Sendable {
    /// The client's address, without its port.
    package var peer: String
    /// The path of the request, at most 80 bytes.
    package var path: String
    /// Whether the client showed a token. Otherwise it showed none.
    package var isWrong: Bool

    init(_ request: ControlRequest, peer: String) {
        (self.peer, isWrong) = (peer, request.header("Authorization") != nil)
        path = String(decoding: request.path.utf8.prefix(80), as: UTF8.self)
    }
}

/// Maps tokens to roles. A reload can replace the tokens. Any thread.
package final class ControlTokens: Sendable {
    private struct State {
        var `operator`: ControlToken
        /// Allows only reading the metrics; nil if it is not configured.
        var metrics: ControlToken?
        /// Counts replacements.
        var generation = 0
    }
    private let state: Monitor<State>

    package init(operator token: ControlToken, metrics: ControlToken? = nil) {
        state = Monitor(State(operator: token, metrics: metrics))
    }

    /// Replaces the tokens, also for open connections. Returns whether they differ from the earlier ones.
    package func replace(operator token: ControlToken, metrics: ControlToken?) -> Bool {
        state.withLock { state in
            guard state.operator != token || state.metrics != metrics else { return false }
            state = State(operator: token, metrics: metrics, generation: state.generation + 1)
            return true
        }
    }

    /// Changes with each replacement: a client that showed a token before must show one again.
    var generation: Int { state.withLock { $0.generation } }

    /// The peer of a valid token; nil without one.
    func peer(of request: ControlRequest) -> ControlPeer? {
        let tokens = state.withLock { $0 }
        if tokens.operator.admits(request) { return ControlPeer(roles: .operator, showsToken: true) }
        if tokens.metrics?.admits(request) == true { return ControlPeer(roles: .metricsReader, showsToken: true) }
        return nil
    }
}

/// A secret that a client sends as `Authorization: Bearer ...` (RFC 6750). It is never printed.
package struct ControlToken: Equatable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }

    package var description: String { "***" }

    /// - Parameter isWrong: whether the client showed a token.
    static func refusal(isWrong: Bool) -> ControlResponse {
        let needed = "the header \"Authorization: Bearer TOKEN\" with control.token_file's token"
        var response = ControlResponse.failure(
            401, "unauthorized", isWrong ? "the token is wrong: this needs \(needed)" : "this needs \(needed)")
        response.headers.append(("WWW-Authenticate", "Bearer"))
        return response
    }

    /// Constant time: a wrong token takes as long as the right one.
    func admits(_ request: ControlRequest) -> Bool {
        guard let value = request.header("Authorization") else { return false }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        let given = Array(words[1].utf8)
        var difference = UInt(bitPattern: given.count ^ bytes.count)
        for index in bytes.indices { difference |= UInt((index < given.count ? given[index] : 0) ^ bytes[index]) }
        return difference == 0 && !bytes.isEmpty
    }
}
