package import Endpoints
internal import MediaCore

extension DestinationConfiguration {
    /// The stream key: `key`, or from `keyFile` (a path, or credential:NAME) or `keyEnvironment`; nil when none is set.
    /// Reads `keyFile` anew at each call, so that a replaced key is used from the next connect on.
    package func streamKey(environment: [String: String]) throws(SecretError) -> Secret? {
        if let key { return key }
        return try secret(called: "the stream key", file: keyFile, variable: keyEnvironment, prefix: "key", environment)
    }

    /// The files that `streamKey` and `login` read, for people; empty for none.
    package var secretFiles: String {
        let files = [
            key == nil ? keyFile.map { "key_file \(printable($0))" } : nil,
            loginFile.map { "login_file \(printable($0))" },
        ]
        return files.compactMap { $0 }.joined(separator: " and ")
    }

    /// "user:password" from `loginFile` or `loginEnvironment`, read as the stream key is; nil when neither is set.
    package func login(environment: [String: String]) throws(SecretError) -> (user: Secret, password: Secret)? {
        let separate = try secret(
            called: "user:password", file: loginFile, variable: loginEnvironment, prefix: "login", environment)
        guard let login = loginText ?? separate else { return nil }
        let parts = login.revealed.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            throw SecretError(
                source: loginFile.map { "login_file \(printable($0))" }
                    ?? "environment variable \(loginEnvironment ?? "")",
                what: "has no user and password", remedy: "its first line is to be user:password")
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
        if let variable {
            let source = "environment variable \(variable)"
            guard let text = environment[variable] else {
                throw SecretError(
                    source: source, what: "is not set", remedy: "set it to \(name), or correct \(prefix)_env")
            }
            return try checked(text, called: name, source: source)
        }
        return nil
    }
}

extension ControlConfiguration {
    /// Where to listen, and the tokens from `tokenFile` and `metricsTokenFile`; nil when `listen` is not set.
    package func remote(
        environment: [String: String]
    ) throws(SecretError) -> (address: ListenAddress, token: Secret, metricsToken: Secret?)? {
        guard let listen else { return nil }
        guard let tokenFile else {
            throw SecretError(
                source: "control.listen", what: "needs control.token_file",
                remedy: "name a file whose first line is a token that cannot be guessed, such as: openssl rand -hex 24")
        }
        let token = try Self.token(inFile: tokenFile, key: "token_file", environment)
        guard let metricsTokenFile else { return (listen, token, nil) }
        let metricsToken = try Self.token(inFile: metricsTokenFile, key: Self.metricsKey, environment)
        guard metricsToken != token else {
            throw SecretError(
                source: "\(Self.metricsKey) \(printable(metricsTokenFile))", what: "holds the token of token_file",
                remedy: "make one of its own: whoever shows it may read the metrics only")
        }
        return (listen, token, metricsToken)
    }

    private static let metricsKey = "metrics_token_file"

    /// The key whose value an error of `remote` is about.
    package static func key(of error: SecretError) -> String {
        error.source.hasPrefix(metricsKey) ? "control.\(metricsKey)" : "control.token_file"
    }

    private static func token(
        inFile file: String, key: String, _ environment: [String: String]
    ) throws(SecretError) -> Secret {
        let token = try firstLine(called: "the token", inFile: file, key: key, environment)
        guard token.revealed.utf8.count >= 16 else {
            throw SecretError(
                source: "\(key) \(printable(file))", what: "holds less than 16 characters",
                remedy: "make one that cannot be guessed, such as: openssl rand -hex 24")
        }
        return token
    }
}

/// The first line of a file, or of a credential.
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

/// Where systemd has put what LoadCredential= or SetCredential= in the unit names (systemd.exec(5)).
private func credentialPath(
    _ name: Substring, _ source: String, _ environment: [String: String]
) throws(SecretError) -> String {
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
        throw SecretError(
            source: source, what: "is not the name of a credential", remedy: "write credential: and a name")
    }
    guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        throw SecretError(
            source: source, what: "was not passed: the daemon runs without a service manager that has credentials",
            remedy: "write LoadCredential=\(name):FILE into its unit, or name the file itself")
    }
    return "\(folder)/\(name)"
}

private func checked(_ text: String, called name: String, source: String) throws(SecretError) -> Secret {
    guard !text.trimmingSpaces.isEmpty else {
        throw SecretError(source: source, what: "is empty", remedy: "its first line is to be \(name)")
    }
    guard let secret = Secret(line: text) else {
        throw SecretError(
            source: source,
            what: "is not \(name): longer than 1024 bytes, or with control characters",
            remedy: "its first line is to be \(name), and nothing else")
    }
    return secret
}

extension Secret {
    /// Without blanks around it; nil where it is empty, longer than 1024 bytes, or has control characters.
    init?(line text: String) {
        let trimmed = text.trimmingSpaces
        guard (1...1024).contains(trimmed.utf8.count), trimmed.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        self.init(String(trimmed))
    }
}

/// Why there is no stream key or login; names its source, never its contents.
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
