package import ControlProtocol
package import Endpoints
internal import MediaCore

/// The URL of a destination. Its descriptions never show a stream key.
package enum DestinationURL: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Not set. `Configuration.load` never returns it.
    case none
    /// The path may contain the stream key.
    case rtmp(RTMPEndpoint)
    /// A local FLV file.
    case flvFile(path: String)

    /// Parses `rtmp://`, `rtmps://`, `file:/path` or a path that ends in `.flv`. Errors contain no part of `text`.
    package init(_ text: String) throws(InvalidDestinationURL) {
        if text.hasPrefix("file:") {
            var path = text.dropFirst(5)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard path.hasPrefix("/"), !path.hasSuffix("/") else {
                throw InvalidDestinationURL(
                    what: "a file: URL requires an absolute path", remedy: "write file:/path/to/recording.flv")
            }
            self = .flvFile(path: String(path))
        } else if text.contains("://") {
            self = .rtmp(try Self.endpoint(text))
        } else if text.hasSuffix(".flv") {
            self = .flvFile(path: text)
        } else {
            throw InvalidDestinationURL(
                what: "neither an RTMP URL nor an FLV file",
                remedy: "write rtmp://host/app, rtmps://host/app, file:/path or a path that ends in .flv")
        }
    }

    private static func endpoint(_ text: String) throws(InvalidDestinationURL) -> RTMPEndpoint {
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

    /// The path of a local file; nil for a server.
    var localPath: String? { if case .flvFile(let path) = self { path } else { nil } }

    /// As the status names it.
    package var kind: DestinationKind { if case .flvFile = self { .file } else { .rtmp } }

    /// Whether the connection uses TLS.
    package var isSecure: Bool { if case .rtmp(let endpoint) = self { endpoint.isSecure } else { false } }

    /// The accepted forms, for messages and docs.
    static let forms = "rtmp://host[:port]/app[/key], rtmps://..., file:/path, or a path that ends in .flv"
    /// The kinds of destinations, for docs.
    static let kinds = "RTMP servers or FLV files"

    /// The redacted URL. If the key is separate, the whole path is the application and is shown.
    package func redacted(keyIsSeparate: Bool) -> String {
        switch self {
        case .none: "(no url)"
        case .rtmp(let location): location.redacted(keyIsSeparate: keyIsSeparate)
        case .flvFile(let path): "file:\(path)"
        }
    }

    package var description: String { redacted(keyIsSeparate: false) }
    // `dump` uses mirrors.
    package var customMirror: Mirror { Mirror(self, children: ["redacted": description]) }
}

extension DestinationConfiguration {
    /// Settings that conflict with the kind of destination.
    var conflictsOfKind: [(keys: [String], what: String, remedy: String)] {
        var conflicts: [(keys: [String], what: String, remedy: String)] = []
        switch url {
        case .none: break
        case .rtmp(let endpoint):
            if !hasSeparateKey, !endpoint.hasStreamName {
                // Only destinations from requests have a secrets folder.
                let elsewhere =
                    secretsFolder == nil
                    ? "name a file in key_file or a variable in key_env"
                    : "send the key as key, name a file in key_file"
                conflicts.append(
                    (["url"], "there is no stream key", "\(elsewhere), or write it after the application"))
            }
            if !endpoint.isSecure, caFile != nil {
                conflicts.append(
                    (["ca_file"], "rtmp:// does not use certificates", "use rtmps:// or remove ca_file"))
            }
        case .flvFile:
            if hasSeparateKey {
                conflicts.append(
                    (["key_file", "key_env", "key"], "a file has no stream key", "remove key_file and key_env"))
            }
            if hasSeparateLogin {
                conflicts.append(
                    (["login_file", "login_env", "login"], "a file has no login",
                    "remove login_file and login_env"))
            }
        }
        return conflicts
    }
}

/// Why a text is not a destination URL. It contains no part of that text.
package struct InvalidDestinationURL: Error, Equatable, Sendable {
    package var what: String
    package var remedy: String
}

extension RTMPEndpoint {
    /// Whether the path has a stream name after the application.
    var hasStreamName: Bool { (try? splittingKey()) != nil }

    /// The URL with `***` in place of possible keys and tokens. If the key is separate, the whole path is the
    /// application and is shown.
    func redacted(keyIsSeparate: Bool) -> String {
        let shown = app.prefix { $0 != "?" }
        if keyIsSeparate { return "\(schemeAndHost)/\(shown)/***" }
        let parts = shown.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2 || shown.count < app.count else { return "\(schemeAndHost)/\(shown)" }
        return "\(schemeAndHost)/\(parts.first ?? "")/***"
    }
}
