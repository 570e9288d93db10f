package import Endpoints
internal import MediaCore

/// Where a destination publishes to. Printing one never shows a stream key.
package enum DestinationURL: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Not set yet; `Configuration.load` never returns it.
    case none
    /// The path may hold the stream key.
    case rtmp(RTMPEndpoint)
    /// A local FLV file.
    case flvFile(path: String)

    /// Reads `rtmp://`, `rtmps://`, `file:/path` or a path that ends in `.flv`; an error holds no part of `text`.
    package init(_ text: String) throws(InvalidDestinationURL) {
        if text.hasPrefix("file:") {
            var path = text.dropFirst(5)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard path.hasPrefix("/"), !path.hasSuffix("/") else {
                throw InvalidDestinationURL(
                    what: "a file: URL needs an absolute path", remedy: "write file:/path/to/recording.flv")
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
                what: "a login before the host without a password",
                remedy: "write user:password@host, or put it into the file that login_file names")
        }
        return endpoint
    }

    /// The URL for people. With the key elsewhere, the whole path names the app and is shown.
    package func redacted(keyIsSeparate: Bool) -> String {
        switch self {
        case .none: "(no url)"
        case .rtmp(let location): location.redacted(keyIsSeparate: keyIsSeparate)
        case .flvFile(let path): "file:\(path)"
        }
    }

    package var description: String { redacted(keyIsSeparate: false) }
    // A dump of a configuration goes by mirrors.
    package var customMirror: Mirror { Mirror(self, children: ["redacted": description]) }
}

/// Why a text is not a destination; holds no part of that text.
package struct InvalidDestinationURL: Error, Equatable, Sendable {
    package var what: String
    package var remedy: String
}

extension RTMPEndpoint {
    /// Whether the path has a part after the application that can be the stream's name.
    var hasStreamName: Bool { (try? splittingKey()) != nil }

    /// The URL for people: what may be a key or a token is `***`. With the key elsewhere, the whole path names the app
    /// and is shown.
    func redacted(keyIsSeparate: Bool) -> String {
        let shown = app.prefix { $0 != "?" }
        if keyIsSeparate { return "\(schemeAndHost)/\(shown)/***" }
        let parts = shown.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2 || shown.count < app.count else { return "\(schemeAndHost)/\(shown)" }
        return "\(schemeAndHost)/\(parts.first ?? "")/***"
    }
}
