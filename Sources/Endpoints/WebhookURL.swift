/// The target of a webhook, from an http:// or https:// URL.
///
/// The path and the query often hold a token, so no description shows them.
package struct WebhookURL: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    package let isSecure: Bool
    /// A DNS name, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    package let port: UInt16
    /// Path and query as in the request line. Starts with a slash.
    package let target: String

    package init(_ url: String) throws(InvalidWebhookURL) {
        let parts: URLParts
        do { parts = try URLParts(url, scheme: "http") } catch {
            throw InvalidWebhookURL(what: Self.words(for: error), remedy: Self.remedy)
        }
        guard parts.userInfo == nil else {
            throw InvalidWebhookURL(
                what: "the URL has a login before the host",
                remedy: "remove it; the receiver checks the signature that is made with the secret")
        }
        // Anything else must be percent-encoded in a request line.
        guard parts.rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw InvalidWebhookURL(
                what: "the path or the query has a # or a character outside ASCII",
                remedy: "write it percent-encoded, such as %23 for #")
        }
        (isSecure, host) = (parts.isSecure, parts.host)
        port = parts.port ?? Self.defaultPort(isSecure: parts.isSecure)
        target = parts.rest.hasPrefix("/") ? parts.rest : "/" + parts.rest
    }

    /// The accepted form, for messages and docs.
    package static let form = "https://host[:port]/path, or the same with http://"
    private static let remedy = "write \(form)"

    private static func words(for error: RTMPEndpointError) -> String {
        error == .unknownScheme ? "the URL starts with neither http:// nor https://" : error.description
    }

    private static func defaultPort(isSecure: Bool) -> UInt16 { isSecure ? 443 : 80 }

    /// Host and port as in a URL and in the header `Host`, without the default port.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort(isSecure: isSecure) ? name : "\(name):\(port)"
    }

    /// Scheme, host and port.
    package var description: String { (isSecure ? "https" : "http") + "://" + authority }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a text is not the URL of a webhook. Contains no part of that text.
package struct InvalidWebhookURL: Error, Equatable, Sendable {
    package var what: String
    package var remedy: String
}
