internal import Endpoints
internal import MediaCore

/// A server's wish to have its publisher elsewhere (Enhanced RTMP, ReconnectRequest), judged: TLS is never given up,
/// and the host changes only where the operator allows it.
struct RTMPRedirect: Equatable {
    /// Where to go on.
    let endpoint: RTMPEndpoint

    struct Refusal: Error, Equatable {
        /// Continues "the server asked for a reconnect ..."; may hold what the server sent.
        var why: String
    }

    /// - Parameters:
    ///   - tcURL: absolute, or relative to the present `tcUrl` (RFC 3986, section 5.2), or nil for the same place.
    ///   - settings: those of the present connection.
    init(_ tcURL: String?, from settings: RTMPDestinationSettings) throws(Refusal) {
        let current = settings.endpoint
        guard let tcURL, !tcURL.isEmpty else {
            endpoint = current
            return
        }
        // URLs are ASCII (RFC 3986). An operator may write otherwise; what a server writes is shown to people.
        guard tcURL.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw Refusal(why: "to what is no place to go: the URL contains a character beyond ASCII")
        }
        let target: RTMPEndpoint
        do { target = try RTMPEndpoint(Self.resolve(tcURL, against: current)) } catch {
            throw Refusal(why: "to what is no place to go: \(error)")
        }
        // Only the path: a query may hold anything.
        let path = target.app.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.contains("."), !path.contains("..") else {
            throw Refusal(why: "to what is no place to go: its path has dots to resolve")
        }
        guard target.userInfo == nil else { throw Refusal(why: "as another user, which is not done") }
        guard target.isSecure || !current.isSecure else {
            throw Refusal(why: "without TLS, to \(target), which is never done")
        }
        guard settings.allowsRedirect || target.host.lowercased() == current.host.lowercased() else {
            throw Refusal(why: "to another host, \(target), which is not allowed")
        }
        // An application is shown, a key is not: a server that mixes them up would have the key shown.
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
