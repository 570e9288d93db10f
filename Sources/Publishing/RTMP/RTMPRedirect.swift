internal import Endpoints
internal import MediaCore

/// A server's redirect (Enhanced RTMP, ReconnectRequest), after the checks. It never leads from TLS to plain TCP, and
/// to another host only if the operator allows it.
struct RTMPRedirect: Equatable {
    let endpoint: RTMPEndpoint

    struct Refusal: Error, Equatable {
        /// Continues "the server asked for a reconnect ..."; may contain text of the server.
        var why: String
    }

    /// - Parameters:
    ///   - tcURL: absolute, relative to the current `tcUrl` (RFC 3986, section 5.2), or nil for the same URL.
    ///   - settings: those of the current connection.
    init(_ tcURL: String?, from settings: RTMPDestinationSettings) throws(Refusal) {
        let current = settings.endpoint
        guard let tcURL, !tcURL.isEmpty else {
            endpoint = current
            return
        }
        // URLs are ASCII (RFC 3986). Operators may use other characters, but the server's URL is shown to people.
        guard tcURL.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw Refusal(why: "to a URL that cannot be used: the URL contains a character beyond ASCII")
        }
        let target: RTMPEndpoint
        do { target = try RTMPEndpoint(Self.resolve(tcURL, against: current)) } catch {
            throw Refusal(why: "to a URL that cannot be used: \(error)")
        }
        // Checks only the path, because a query may contain anything.
        let path = target.app.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.contains("."), !path.contains("..") else {
            throw Refusal(why: "to a URL that cannot be used: its path has dots to resolve")
        }
        guard target.userInfo == nil else { throw Refusal(why: "as another user, which is not done") }
        guard target.isSecure || !current.isSecure else {
            throw Refusal(why: "without TLS, to \(target), which is never done")
        }
        guard settings.allowsRedirect || target.host.lowercased() == current.host.lowercased() else {
            throw Refusal(why: "to another host, \(target), which is not allowed")
        }
        // Messages show the application but not the key. If the server put the key into the application, messages would
        // show it.
        let key = PercentDecodedText(settings.key.revealed).bytes
        guard !path.contains(where: { PercentDecodedText(String($0)).bytes == key }) || current.app == target.app else {
            throw Refusal(why: "to a URL with the key in it")
        }
        endpoint = target
    }

    private static func resolve(_ reference: String, against base: RTMPEndpoint) -> String {
        if let end = reference.firstIndex(where: { ":/?#".contains($0) }), reference[end] == ":" { return reference }
        if reference.hasPrefix("//") { return (base.isSecure ? "rtmps:" : "rtmp:") + reference }
        if reference.hasPrefix("/") { return base.schemeAndHost + reference }
        let path = base.app.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return base.schemeAndHost + "/" + path + reference }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        return base.schemeAndHost + "/" + folder + reference
    }
}
