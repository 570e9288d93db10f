internal import MediaCore

/// The target of an rtmp:// or rtmps:// URL, without the stream key.
///
/// Nothing is decoded or changed, because servers compare bytes. Possible secrets (user, password, query) are never
/// shown.
package struct RTMPEndpoint: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let isSecure: Bool
    /// A DNS name, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    package let port: UInt16
    /// The application: the URL's path with its query, as RTMP's `connect` sends it.
    package let app: String
    /// "user:password" if the URL has it. It is not part of `tcUrl`.
    package let userInfo: Secret?

    /// Longer URLs and keys are refused.
    package static let maximumBytes = 2048

    /// Reads a URL whose whole path is the application. The key is given separately.
    package init(_ url: String) throws(RTMPEndpointError) {
        self = try URLParts(url, scheme: "rtmp").endpoint
    }

    /// Reads a URL whose last path component, including a query, is the stream key.
    package static func splittingKey(_ url: String) throws(RTMPEndpointError) -> (endpoint: RTMPEndpoint, key: Secret) {
        try RTMPEndpoint(url).splittingKey()
    }

    /// Splits off the stream key: the last path component, including a query.
    package func splittingKey() throws(RTMPEndpointError) -> (endpoint: RTMPEndpoint, key: Secret) {
        // Slashes in a query belong to the query.
        guard let slash = app[..<(app.firstIndex(of: "?") ?? app.endIndex)].lastIndex(of: "/") else {
            throw .missingKey
        }
        let (name, key) = (app[..<slash], app[app.index(after: slash)...])
        guard !name.isEmpty else { throw .missingApp }
        guard !key.isEmpty, !key.hasPrefix("?") else { throw .missingKey }
        return (
            RTMPEndpoint(isSecure: isSecure, host: host, port: port, app: String(name), userInfo: userInfo),
            Secret(String(key))
        )
    }

    fileprivate init(isSecure: Bool, host: String, port: UInt16, app: String, userInfo: Secret?) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.app = app
        self.userInfo = userInfo
    }

    /// The URL for `connect`: scheme, host and application, without key and user.
    package var tcURL: String { schemeAndHost + "/" + app }

    /// Scheme, host, port and application, with "<redacted>" in place of a user and a query.
    package var description: String {
        let path = app.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = path.count > 1 ? "?<redacted>" : ""
        let user = userInfo == nil ? "" : "<redacted>@"
        return scheme + "://" + user + authority + "/" + path[0] + query
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }

    static func defaultPort(isSecure: Bool) -> UInt16 { isSecure ? 443 : 1935 }
    private var scheme: String { isSecure ? "rtmps" : "rtmp" }
    /// Scheme, host and port as a URL writes them, without the default port.
    package var schemeAndHost: String { scheme + "://" + authority }
    private var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort(isSecure: isSecure) ? name : "\(name):\(port)"
    }
}

/// What is wrong with a URL. No case contains a part of the URL, which could show a key.
package enum RTMPEndpointError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong
    case unknownScheme
    case badCharacter
    case badHost
    case badPort
    case missingApp
    case missingKey

    package var description: String {
        switch self {
        case .tooLong: "the URL is longer than \(RTMPEndpoint.maximumBytes) bytes"
        case .unknownScheme: "the URL starts with neither rtmp:// nor rtmps://"
        case .badCharacter: "the URL contains a space, a control character or an invisible one (a format character)"
        case .badHost: "the URL has no valid host: a name, an IPv4 address, or an IPv6 address in brackets is needed"
        case .badPort: "the URL's port is not a number from 1 to 65535"
        case .missingApp: "the URL names no application: rtmp://host/application is needed"
        case .missingKey: "the URL has no stream key and none is given apart"
        }
    }
}

extension URLParts {
    fileprivate var endpoint: RTMPEndpoint {
        get throws(RTMPEndpointError) {
            // A query without a path does not name an application.
            let pathAndQuery = rest.hasPrefix("/") ? String(rest.dropFirst()) : ""
            let app = pathAndQuery.hasSuffix("/") ? String(pathAndQuery.dropLast()) : pathAndQuery
            guard !app.isEmpty, !app.hasPrefix("?") else { throw .missingApp }
            return RTMPEndpoint(
                isSecure: isSecure, host: host, port: port ?? RTMPEndpoint.defaultPort(isSecure: isSecure), app: app,
                userInfo: userInfo)
        }
    }
}
