extension RTMPEndpoint: DestinationEndpoint {
    package static let facts = DestinationFacts(
        kind: "rtmp", isServer: true, noun: "RTMP server", forms: ["rtmp://host[:port]/app[/key]", "rtmps://..."])

    /// The path may contain the stream key.
    package static func read(_ text: String) throws(InvalidDestinationURL) -> Self? {
        guard URLParts.hasScheme("rtmp", text) else { return nil }
        let endpoint: RTMPEndpoint
        do { endpoint = try RTMPEndpoint(text) } catch {
            throw InvalidDestinationURL(
                what: error.description, remedy: "write rtmp://host/app, rtmps://host:port/app, or file:/path")
        }
        if let login = endpoint.userInfo, !login.revealed.contains(":") {
            throw InvalidDestinationURL(
                what: "the login before the host has no password",
                remedy: "write user:password@host, or write the login to a file and name it in login_file")
        }
        return endpoint
    }

    package var hasTLS: Bool { isSecure }
    package var localPath: String? { nil }

    /// The URL with `***` in place of possible keys and tokens.
    package func redacted(keyIsSeparate: Bool) -> String {
        let shown = app.prefix { $0 != "?" }
        if keyIsSeparate { return "\(schemeAndHost)/\(shown)/***" }
        let parts = shown.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2 || shown.count < app.count else { return "\(schemeAndHost)/\(shown)" }
        return "\(schemeAndHost)/\(parts.first ?? "")/***"
    }

    package func conflicts(with keys: DestinationKeys) -> [DestinationConflict] {
        var conflicts: [DestinationConflict] = []
        if !keys.hasKey, !hasStreamName {
            let elsewhere =
                keys.areOfRequest
                ? "send the key as key, name a file in key_file"
                : "name a file in key_file or a variable in key_env"
            conflicts.append(
                DestinationConflict(
                    keys: ["url"], what: "there is no stream key",
                    remedy: "\(elsewhere), or write it after the application"))
        }
        if !isSecure, keys.hasCAFile {
            conflicts.append(
                DestinationConflict(
                    keys: ["ca_file"], what: "rtmp:// does not use certificates",
                    remedy: "use rtmps:// or remove ca_file"))
        }
        return conflicts
    }

    /// Whether the path has a stream name after the application.
    package var hasStreamName: Bool { (try? splittingKey()) != nil }
}
