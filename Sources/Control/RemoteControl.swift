/// Where the control server answers beside its Unix socket, to whom shows the token.
package struct RemoteControl: Sendable {
    package var host: String
    package var port: Int
    package var token: ControlToken

    package init(host: String, port: Int, token: ControlToken) {
        (self.host, self.port, self.token) = (host, port, token)
    }
}

/// A secret that a client shows as `Authorization: Bearer ...` (RFC 6750). Not printed by anything.
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

    /// Takes as long for a wrong token as for the right one.
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
