/// The TCP address of the control server, and the tokens for it.
package struct RemoteControl: Sendable {
    package var host: String
    package var port: Int
    package var tokens: ControlTokens

    package init(host: String, port: Int, tokens: ControlTokens) {
        (self.host, self.port, self.tokens) = (host, port, tokens)
    }
}

/// Maps tokens to roles.
package struct ControlTokens: Sendable {
    private let `operator`: ControlToken
    /// Allows only reading the metrics; nil if it is not configured.
    private let metrics: ControlToken?

    package init(operator token: ControlToken, metrics: ControlToken? = nil) {
        (self.operator, self.metrics) = (token, metrics)
    }

    /// The peer of a valid token; nil without one.
    func peer(of request: ControlRequest) -> ControlPeer? {
        if self.operator.admits(request) { return ControlPeer(roles: .operator, showsToken: true) }
        if metrics?.admits(request) == true { return ControlPeer(roles: .metricsReader, showsToken: true) }
        return nil
    }
}

/// A secret that a client sends as `Authorization: Bearer ...` (RFC 6750). It is never printed.
package struct ControlToken: Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }

    package var description: String { "***" }

    static let refusal: ControlResponse = {
        var response = ControlResponse.failure(
            401, "unauthorized",
            "this needs the header \"Authorization: Bearer TOKEN\" with control.token_file's token")
        response.headers.append(("WWW-Authenticate", "Bearer"))
        return response
    }()

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
