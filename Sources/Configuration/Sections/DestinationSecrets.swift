package import Endpoints
internal import MediaCore

extension DestinationConfiguration {
    /// The stream key from `key`, `keyFile` (a path or credential:NAME) or `keyEnvironment`; nil if none is set.
    /// Each call reads `keyFile` again, so that the next connect uses a replaced key.
    package func streamKey(environment: [String: String]) throws(SecretError) -> Secret? {
        if let key { return key }
        return try secret(called: "the stream key", file: keyFile, variable: keyEnvironment, prefix: "key", environment)
    }

    /// The files that `streamKey` and `login` read, for messages. Empty if there are none.
    package var secretFiles: String {
        let files = [
            key == nil ? keyFile.map { "key_file \(printable($0))" } : nil,
            loginFile.map { "login_file \(printable($0))" },
        ]
        return files.compactMap { $0 }.joined(separator: " and ")
    }

    /// The login from `loginText`, `loginFile` or `loginEnvironment`; nil if none is set.
    package func login(environment: [String: String]) throws(SecretError) -> (user: Secret, password: Secret)? {
        let separate = try secret(
            called: "user:password", file: loginFile, variable: loginEnvironment, prefix: "login", environment)
        guard let login = loginText ?? separate else { return nil }
        let parts = login.revealed.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            throw SecretError(
                source: loginFile.map { "login_file \(printable($0))" }
                    ?? "environment variable \(loginEnvironment ?? "")",
                what: "contains no login", remedy: "write user:password in its first line")
        }
        return (Secret(String(parts[0])), Secret(String(parts[1])))
    }

    private func secret(
        called name: String, file: String?, variable: String?, prefix: String, _ environment: [String: String]
    ) throws(SecretError) -> Secret? {
        if let file {
            return try firstLine(
                called: name, inFile: file, key: "\(prefix)_file", environment, beneath: secretsFolder)
        }
        return try variable.map { variable throws(SecretError) in
            try inEnvironment(variable, called: name, key: "\(prefix)_env", environment)
        }
    }
}

extension ControlConfiguration {
    /// The listen address and the tokens from `tokenFile` and `metricsTokenFile`; nil if `listen` is not set.
    package func remote(
        environment: [String: String]
    ) throws(SecretError) -> (address: ListenAddress, token: Secret, metricsToken: Secret?)? {
        guard let listen else { return nil }
        guard let tokenFile else {
            throw SecretError(
                source: "control.listen", what: "requires control.token_file",
                remedy: "name a file whose first line is a random token, such as the output of: openssl rand -hex 24")
        }
        let token = try Self.token(inFile: tokenFile, key: "token_file", environment)
        guard let metricsTokenFile else { return (listen, token, nil) }
        let metricsToken = try Self.token(inFile: metricsTokenFile, key: Self.metricsKey, environment)
        guard metricsToken != token else {
            throw SecretError(
                source: "\(Self.metricsKey) \(printable(metricsTokenFile))", what: "contains the token of token_file",
                remedy: "use a separate token; this one allows only /metrics")
        }
        return (listen, token, metricsToken)
    }

    private static let metricsKey = "metrics_token_file"

    /// The key that an error of `remote` concerns.
    package static func key(of error: SecretError) -> String {
        error.source.hasPrefix(metricsKey) ? "control.\(metricsKey)" : "control.token_file"
    }

    private static func token(
        inFile file: String, key: String, _ environment: [String: String]
    ) throws(SecretError) -> Secret {
        let token = try firstLine(called: "the token", inFile: file, key: key, environment)
        guard token.revealed.utf8.count >= 16 else {
            throw SecretError(
                source: "\(key) \(printable(file))", what: "has fewer than 16 characters",
                remedy: "use a random token, such as the output of: openssl rand -hex 24")
        }
        return token
    }
}

extension WebhookConfiguration {
    /// The secret from `secretFile` (a path or credential:NAME) or `secretEnvironment`. Each call reads the file again.
    package func secret(environment: [String: String]) throws(SecretError) -> Secret {
        let name = "the secret"
        if let secretFile { return try firstLine(called: name, inFile: secretFile, key: "secret_file", environment) }
        return try inEnvironment(secretEnvironment ?? "", called: name, key: "secret_env", environment)
    }
}

/// Returns the value of a variable. Someone may have written the secret itself in place of the variable's name, so only
/// a name that exists is named.
private func inEnvironment(
    _ variable: String, called name: String, key: String, _ environment: [String: String]
) throws(SecretError) -> Secret {
    guard let text = environment[variable] else {
        throw SecretError(
            source: "the environment variable of \(key)", what: "is not set",
            remedy: "set the variable to \(name), or correct \(key)")
    }
    return try checked(text, called: name, source: "environment variable \(variable)")
}

/// Returns the first line of a file or credential.
private func firstLine(
    called name: String, inFile file: String, key: String, _ environment: [String: String],
    beneath folder: String? = nil
) throws(SecretError) -> Secret {
    let source = "\(key) \(printable(file))"
    let path: String
    if folder == nil, let name = file.credentialName {
        path = try credentialPath(name, source, environment)
    } else {
        path = file
    }
    let bytes: [UInt8]
    do { bytes = try readFile(path, limit: 4096, beneath: folder) } catch {
        throw SecretError(source: source, what: error.what, remedy: error.remedy)
    }
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    return try checked(String(decoding: line, as: UTF8.self), called: name, source: source)
}

/// Returns the path of a systemd credential (systemd.exec(5)).
private func credentialPath(
    _ name: Substring, _ source: String, _ environment: [String: String]
) throws(SecretError) -> String {
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
        throw SecretError(
            source: source, what: "is not a valid credential name", remedy: "write credential:NAME")
    }
    guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        throw SecretError(
            source: source, what: "is not available: no service manager passed credentials to the daemon",
            remedy: "add LoadCredential=\(name):FILE to the unit, or name a file instead")
    }
    return "\(folder)/\(name)"
}

private func checked(_ text: String, called name: String, source: String) throws(SecretError) -> Secret {
    guard !text.trimmingSpaces.isEmpty else {
        throw SecretError(source: source, what: "is empty", remedy: "write \(name) to it")
    }
    guard let secret = Secret(line: text) else {
        throw SecretError(
            source: source,
            what: "is not \(name): it exceeds 1024 bytes or has control characters",
            remedy: "write only \(name) to it")
    }
    return secret
}

extension Secret {
    /// Trims blanks. Returns nil if the text is empty, exceeds 1024 bytes or has control characters.
    init?(line text: String) {
        let trimmed = text.trimmingSpaces
        guard (1...1024).contains(trimmed.utf8.count), trimmed.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        self.init(String(trimmed))
    }
}

/// Why a stream key or login could not be read. It names the source, never the contents.
package struct SecretError: Error, Equatable, Sendable, CustomStringConvertible {
    package var source: String
    package var what: String
    package var remedy: String
    package var description: String { "\(source) \(what); \(remedy)" }
}

extension String {
    /// NAME in credential:NAME.
    var credentialName: Substring? {
        let prefix = "credential:"
        return hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }

    fileprivate var trimmingSpaces: Substring {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = drop(while: blank)
        while let last = rest.last, blank(last) { rest.removeLast() }
        return rest
    }
}
