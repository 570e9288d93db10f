/// Where a destination publishes to. Printing one never shows a stream key.
package enum DestinationURL: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Not set yet; `Configuration.load` never returns it.
    case none
    case rtmp(RTMPLocation)
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
            self = .rtmp(try RTMPLocation(text))
        } else if text.hasSuffix(".flv") {
            self = .flvFile(path: text)
        } else {
            throw InvalidDestinationURL(
                what: "neither an RTMP URL nor an FLV file",
                remedy: "write rtmp://host/app, rtmps://host/app, file:/path or a path that ends in .flv")
        }
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

/// The parts of an `rtmp://` or `rtmps://` URL. May hold a stream key, so printing one is redacted.
package struct RTMPLocation: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    package let isSecure: Bool
    /// A name or an address; an IPv6 address without its brackets.
    package let host: String
    /// 1935, or 443 for rtmps, unless the URL says otherwise.
    package let port: Int
    /// What follows the host and its slash, undecoded, query included: `app`, `app/instance`, `app/key?token=...`.
    package let path: String

    init(_ text: String) throws(InvalidDestinationURL) {
        let rest: Substring
        if text.lowercased().hasPrefix("rtmp://") {
            isSecure = false
            rest = text.dropFirst(7)
        } else if text.lowercased().hasPrefix("rtmps://") {
            isSecure = true
            rest = text.dropFirst(8)
        } else {
            throw InvalidDestinationURL(
                what: "the scheme is not one of rtmp, rtmps, file", remedy: "write rtmp://host/app or rtmps://host/app")
        }
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw InvalidDestinationURL(
                what: "longer than 2048 bytes, or with spaces or bytes that are not ASCII",
                remedy: "percent-encode what is special")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        guard !authority.contains("@") else {
            throw InvalidDestinationURL(
                what: "a user or password before the host is not supported",
                remedy: "use key_file or key_env for secrets")
        }
        var portText: Substring?
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else {
                throw InvalidDestinationURL(
                    what: "an IPv6 address without its closing bracket", remedy: "write rtmp://[2001:db8::1]/app")
            }
            host = String(authority[authority.index(after: authority.startIndex)..<close])
            let after = authority[authority.index(after: close)...]
            if !after.isEmpty { portText = after.hasPrefix(":") ? after.dropFirst() : "" }
        } else if let colon = authority.firstIndex(of: ":") {
            host = String(authority[..<colon])
            portText = authority[authority.index(after: colon)...]
        } else {
            host = String(authority)
        }
        if let portText {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(portText),
                (1...65535).contains(number)
            else {
                throw InvalidDestinationURL(
                    what: "the port is not a number from 1 to 65535", remedy: "write rtmp://host:1935/app")
            }
            port = number
        } else {
            port = isSecure ? 443 : 1935
        }
        path = slash == rest.endIndex ? "" : String(rest[rest.index(after: slash)...])
        guard !host.isEmpty else {
            throw InvalidDestinationURL(what: "there is no host", remedy: "write rtmp://host/app")
        }
        guard path.split(separator: "/").first?.hasPrefix("?") == false else {
            throw InvalidDestinationURL(what: "there is no application after the host", remedy: "write rtmp://host/app")
        }
    }

    /// Whether the path has a part after the application that can be the stream's name.
    package var hasStreamName: Bool {
        let parts = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
        return parts.count >= 2
    }

    /// Scheme, host and port as a URL writes them, without the default port.
    package var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "rtmps" : "rtmp")://\(name)\(port == (isSecure ? 443 : 1935) ? "" : ":\(port)")"
    }

    package func redacted(keyIsSeparate: Bool) -> String {
        let shown = path.prefix { $0 != "?" }
        if keyIsSeparate { return "\(origin)/\(shown)\(shown.hasSuffix("/") ? "" : "/")***" }
        let parts = shown.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2 || shown.count < path.count else { return "\(origin)/\(shown)" }
        return "\(origin)/\(parts.first ?? "")/***"
    }

    /// The URL to publish to, with `key` after the path when there is one. A secret: for the publisher only.
    package func url(key: String?) -> String {
        guard let key, !key.isEmpty else { return "\(origin)/\(path)" }
        return "\(origin)/\(path)\(path.hasSuffix("/") ? "" : "/")\(key)"
    }

    package var description: String { redacted(keyIsSeparate: false) }
    package var customMirror: Mirror { Mirror(self, children: ["redacted": description]) }
}
