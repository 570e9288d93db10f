/// The address of a daemon's control server.
package enum ControlAddress: Equatable, CustomStringConvertible {
    case unix(String)
    /// `prefix` comes before every path, for a proxy that serves the daemon below a path. It has no slash at its end.
    case tcp(host: String, port: Int, prefix: String)

    package struct Invalid: Error, CustomStringConvertible {
        package let description: String
    }

    /// `http://127.0.0.1:9180`, `http://[::1]:9180/`, `http://gateway/device7`.
    package init(url: String) throws(Invalid) {
        let shown = TerminalText.printable(url)
        func invalid(_ why: String) -> Invalid {
            Invalid(description: "\"\(shown)\" is no URL of a daemon: \(why); write it as http://127.0.0.1:9180")
        }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw invalid("it has characters that no URL has")
        }
        guard !url.lowercased().hasPrefix("https://") else {
            throw invalid("the daemon speaks no TLS, and neither does this tool")
        }
        guard url.lowercased().hasPrefix("http://") else { throw invalid("it does not begin with http://") }
        let rest = url.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        guard !path.contains("?"), !path.contains("#"), !authority.contains("?"), !authority.contains("#") else {
            throw invalid("it has a query or a fragment")
        }
        guard !authority.contains("@") else { throw invalid("a token belongs in a file (--token-file)") }
        var host = authority
        var port = 80
        let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[bracket...].lastIndex(of: ":") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(number) else {
                throw invalid("its port is not a number from 1 to 65535")
            }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("["), !host.contains("]") else { throw invalid("it names no host") }
        self = .tcp(host: String(host), port: port, prefix: String(path.reversed().drop { $0 == "/" }.reversed()))
    }

    /// The prefix of the path of every request.
    var prefix: String {
        switch self {
        case .unix: ""
        case .tcp(_, _, let prefix): prefix
        }
    }

    /// The value of the header `Host`.
    var host: String {
        switch self {
        case .unix: "upcastd"
        case .tcp(let host, let port, _): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The address as messages show it.
    package var description: String {
        switch self {
        case .unix(let path): TerminalText.printable(path)
        case .tcp(_, _, let prefix): "http://\(host)\(prefix)"
        }
    }
}
