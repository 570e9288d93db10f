internal import CGnuTLS
internal import Endpoints
internal import MediaCore

/// The publisher's side of the two RTMP logins, Adobe's and Limelight's. It converts the server's description into the
/// query of the next `connect`. No I/O.
///
/// Both need three connections, because servers refuse `connect` twice. The first refusal names the method ("authmod").
/// The second one, to a publisher that has named its user, carries a challenge. The password itself is never sent.
struct RTMPAuthentication: Sendable {
    enum Failure: Error, Equatable, Sendable {
        /// The server wants a user and a password, and none is configured.
        case missingCredentials
        /// The server rejected the user or the password.
        case refused
        /// The challenge cannot be answered; with the reason.
        case badChallenge(String)
    }

    private enum Method: String { case adobe, llnw }
    private enum Step { case unknown, named, answered }

    /// The longest description that is accepted as a challenge.
    static let maximumBytes = 2048

    private let credentials: RTMPCredentials?
    private let nonce: @Sendable () -> UInt32
    private var step = Step.unknown

    /// - Parameter nonce: makes the client's nonce; random except in tests.
    init(_ credentials: RTMPCredentials?, nonce: @escaping @Sendable () -> UInt32 = { .random(in: 0 ... .max) }) {
        self.credentials = credentials
        self.nonce = nonce
    }

    /// Whether the description of a refusal asks for a login.
    static func isAsked(by description: String) -> Bool { method(of: description) != nil }

    /// Answers a refused `connect`: returns a query without "?" for `app` and `tcUrl` of the next one.
    ///
    /// - Parameters:
    ///   - description: from the server, such as "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ]".
    ///   - app: the application, which Limelight's digest includes.
    mutating func answer(to description: String, app: String) throws(Failure) -> String {
        guard description.utf8.count <= Self.maximumBytes, let method = Self.method(of: description) else {
            throw .badChallenge("it is too long")
        }
        guard let credentials else { throw .missingCredentials }
        // Servers send authfailed, authfail and nosuchuser. The error does not say whether user or password was wrong.
        if description.contains("?reason=authfail") || description.contains("?reason=nosuchuser") { throw .refused }
        if description.contains("code=403 need auth") {
            guard step == .unknown else { throw .refused }
            step = .named
            return "authmod=\(method.rawValue)&user=\(credentials.user.revealed)"
        }
        guard step != .answered else { throw .refused }
        guard let fields = Self.fields(of: description) else { throw .badChallenge("it names no challenge") }
        step = .answered
        // The server may spell the user differently; its spelling enters the digest.
        let user = fields["user"] ?? credentials.user.revealed
        let clientNonce = Self.hexadecimal(of: nonce())
        let password = credentials.password.revealed
        switch method {
        case .adobe:
            guard let salt = fields["salt"] else { throw .badChallenge("it has no salt") }
            let first = Base64.encode(try Self.md5(user, salt, password))
            let challenge = fields["opaque"] ?? fields["challenge"] ?? ""
            let response = Base64.encode(try Self.md5(first, challenge, clientNonce))
            let opaque = fields["opaque"].map { "&opaque=\($0)" } ?? ""
            return "authmod=adobe&user=\(user)&challenge=\(clientNonce)&response=\(response)\(opaque)"
        case .llnw:
            // HTTP's digest (RFC 2617) with fixed realm, method, count and quality of protection.
            guard let serverNonce = fields["nonce"] else { throw .badChallenge("it has no nonce") }
            let path = app.prefix { $0 != "?" }
            let first = Self.hexadecimal(of: try Self.md5("\(user):live:\(password)"))
            let second = Self.hexadecimal(
                of: try Self.md5("publish:/\(path)\(path.contains("/") ? "" : "/_definst_")"))
            let response = Self.hexadecimal(
                of: try Self.md5("\(first):\(serverNonce):00000001:\(clientNonce):auth:\(second)"))
            return "authmod=llnw&user=\(user)&nonce=\(serverNonce)&cnonce=\(clientNonce)&nc=00000001"
                + "&response=\(response)"
        }
    }

    private static func method(of description: String) -> Method? {
        description.contains("authmod=adobe") ? .adobe : description.contains("authmod=llnw") ? .llnw : nil
    }

    /// Returns the fields of "?reason=needauth&user=...&salt=...". Values are base64 and may contain "=".
    private static func fields(of description: String) -> [String: String]? {
        guard let start = description.firstRange(of: "?reason=needauth") else { return nil }
        let query = description[start.upperBound...].prefix { $0 != " " }
        var fields: [String: String] = [:]
        for field in query.split(separator: "&") {
            guard let equals = field.firstIndex(of: "=") else { continue }
            let value = field[field.index(after: equals)...]
            if !value.isEmpty { fields[String(field[..<equals])] = String(value) }
        }
        return fields
    }

    // MARK: Digests

    /// MD5 of the concatenated texts. Both logins require MD5.
    private static func md5(_ texts: String...) throws(Failure) -> [UInt8] {
        let bytes = texts.flatMap { Array($0.utf8) }
        var digest = [UInt8](repeating: 0, count: 16)
        guard unsafe gnutls_hash_fast(GNUTLS_DIG_MD5, bytes, bytes.count, &digest) == GNUTLS_E_SUCCESS else {
            throw .badChallenge("this machine's GnuTLS refuses MD5, which the answer needs")
        }
        return digest
    }

    private static func hexadecimal(of bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func hexadecimal(of word: UInt32) -> String {
        hexadecimal(of: (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) })
    }
}
