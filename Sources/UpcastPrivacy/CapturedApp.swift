internal import ControlClient
internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// The app whose screen is captured, as it asks upcastd to keep something from viewers.
///
/// Each call is one request to the daemon's control socket: it waits until the daemon has answered, at most for the
/// time that was allowed, and keeps nothing open. It blocks a thread, or suspends a task: in an asynchronous context
/// Swift takes the `async` variant. Any thread may call; calls of several threads happen in any order. All of them may
/// be repeated. What was raised or hidden stays so when this process ends, in whatever way.
public struct CapturedApp: Sendable {
    /// Where the daemon's control server answers unless it was told otherwise: in `/run/upcast`, or in
    /// `$XDG_RUNTIME_DIR/upcast` if that folder does not exist and this user is not root.
    public static var defaultSocket: String { "\(RuntimeFolder.current)/control.sock" }

    /// By which the daemon knows what belongs to this app.
    public let name: String
    private let client: ControlClient

    /// Asks nothing yet.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `.`, `-`, `_` or `/`. Only this name can release what it raised or
    ///     hid, also in the app's next process.
    ///   - socket: the daemon's own control socket, which this user must be allowed to write to.
    ///   - timeout: for each call, from connecting to the answer's last byte.
    public init(name: String, socket: String = defaultSocket, timeout: Duration = .seconds(2)) {
        self.name = name
        client = ControlClient(address: .unix(socket), timeout: max(.milliseconds(1), MediaTime(timeout)))
    }

    // MARK: The curtain

    /// What is so where a call fails.
    enum Consequence {
        static let raise = "the curtain may not be up: viewers may see what the screen shows"
        static let lower = "the curtain may still be up"
        static let hide = "the region may not be hidden: raise the curtain"
        static let remove = "it may still be hidden"
    }

    /// Raises the curtain for this app, or holds it up as well: viewers see it in place of the picture, and hear
    /// nothing. When this returns, it is up, and nothing from before goes out any more.
    ///
    /// - Parameter reason: for the log and for operators; cut at 200 bytes.
    /// - Returns: what had left by then.
    /// - Throws: where the daemon did not say that the curtain is up. It may be up where the code is `timedOut`.
    @discardableResult
    public func raiseCurtain(reason: String = "") throws(UpcastPrivacyError) -> CurtainReceipt {
        var request = CurtainUpRequest()
        (request.app, request.reason) = (name, Self.given(reason))
        let answer = try ask("POST", "/curtain/up", request, Consequence.raise)
        guard let receipt = CurtainReceipt(answer) else {
            throw UpcastPrivacyError(
                .unintelligible("it does not say that the curtain is up, and what had left"), Consequence.raise)
        }
        return receipt
    }

    /// Lets go of the curtain for this app. It falls when nobody else holds it up.
    ///
    /// - Returns: what has become of the curtain.
    /// - Throws: where the daemon did not agree; the curtain then stays, unless the code is `timedOut`.
    @discardableResult
    public func lowerCurtain() throws(UpcastPrivacyError) -> CurtainRelease {
        var request = CurtainDownRequest()
        request.app = name
        var findings = JSONFindings()
        let answer = CurtainDownAnswer(json: try ask("POST", "/curtain/down", request, Consequence.lower), &findings)
        guard findings.has("up") else {
            throw UpcastPrivacyError(.unintelligible("it does not say whether the curtain is up"), Consequence.lower)
        }
        return answer.isUp ? .heldByOthers : .lowered
    }

    // MARK: Regions

    /// Hides a rectangle of the picture until it is removed, or moves the one of that name. When this returns, no
    /// further picture shows it, but for the one that is being encoded at that moment; what was encoded before and
    /// waits still goes out.
    ///
    /// - Parameters:
    ///   - region: what is hidden.
    ///   - name: of 1 to 64 such characters as `CapturedApp.name` has.
    ///   - reason: for the log; cut at 200 bytes.
    /// - Throws: `refused` for a name or numbers that cannot be, and where there are 64 regions already, 48 of apps, or
    ///   32 of this user's apps.
    public func hide(
        _ region: HiddenRegion, named name: String, reason: String = ""
    ) throws(UpcastPrivacyError) {
        var request = region.request
        (request.app, request.name, request.reason) = (self.name, name, Self.given(reason))
        _ = try ask("POST", "/regions", request, Consequence.hide)
    }

    /// Removes a region: viewers see that rectangle again, from the client's next picture on.
    ///
    /// - Parameter name: of the region.
    /// - Returns: whether this app had one of that name.
    @discardableResult
    public func removeRegion(named name: String) throws(UpcastPrivacyError) -> Bool {
        try removeRegions("&name=\(ControlClient.escaped(name))")
    }

    /// Removes all of this app's regions.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func removeAllRegions() throws(UpcastPrivacyError) -> Bool { try removeRegions("") }

    private func removeRegions(_ query: String) throws(UpcastPrivacyError) -> Bool {
        do throws(ControlClientError) {
            try client.ask("DELETE", "/regions?app=\(ControlClient.escaped(name))\(query)")
            return true
        } catch {
            if case .refused(404, let report) = error, report.code == "not_found" { return false }
            throw UpcastPrivacyError(error, Consequence.remove)
        }
    }

    // MARK: Asking

    private func ask(
        _ method: String, _ target: String, _ request: some JSONRecord, _ consequence: String
    ) throws(UpcastPrivacyError) -> JSONValue {
        do throws(ControlClientError) {
            return try client.ask(method, target, body: request.json)
        } catch {
            throw UpcastPrivacyError(error, consequence)
        }
    }

    /// Left out when empty.
    private static func given(_ reason: String) -> String? { reason.isEmpty ? nil : cut(reason, to: 200) }

    /// No app is to fail here because it says too much.
    private static func cut(_ text: String, to bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var (kept, used) = ("", 0)
        for character in text {
            used += character.utf8.count
            guard used <= bytes else { break }
            kept.append(character)
        }
        return kept
    }
}
