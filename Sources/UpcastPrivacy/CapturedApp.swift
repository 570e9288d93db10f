internal import ControlClient
internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// The app whose screen is captured. It asks upcastd to keep parts of the screen from viewers.
///
/// Each call is one request to the daemon's control socket. It waits for the daemon's answer, at most for the timeout,
/// and keeps no connection open. It blocks a thread, or suspends a task: in an asynchronous context, Swift chooses the
/// `async` variant. Any thread may call. Calls on several threads happen in any order. All calls may be repeated. Holds
/// and regions stay when this process ends, in whatever way.
public struct CapturedApp: Sendable {
    /// The path of the daemon's control socket, unless configured otherwise: in `/run/upcast`, or in
    /// `$XDG_RUNTIME_DIR/upcast` if that folder does not exist and this user is not root.
    public static var defaultSocket: String { "\(RuntimeFolder.current)/control.sock" }

    /// The name by which the daemon knows this app's holds and regions.
    public let name: String
    private let client: ControlClient

    /// Sends nothing yet.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `.`, `-`, `_` or `/`. Only the same name can release what it raised or
    ///     hid, also in the app's next process.
    ///   - socket: the daemon's own control socket, which this user must be allowed to write to.
    ///   - timeout: the limit for each call, from connecting to the answer's last byte.
    public init(name: String, socket: String = defaultSocket, timeout: Duration = .seconds(2)) {
        self.name = name
        client = ControlClient(address: .unix(socket), timeout: max(.milliseconds(1), MediaTime(timeout)))
    }

    // MARK: The curtain

    /// What a failed call means for viewers.
    enum Consequence {
        static let raise = "the curtain may not be up: viewers may see what the screen shows"
        static let lower = "the curtain may still be up"
        static let hide = "the region may not be hidden: raise the curtain"
        static let remove = "it may still be hidden"
    }

    /// Raises the curtain for this app, or adds the app's hold to it. Viewers see the curtain in place of the picture,
    /// and hear nothing. When this returns, the curtain is up, and nothing older is sent any more.
    ///
    /// - Parameter reason: for the log and for operators; cut at 200 bytes.
    /// - Returns: what had been sent by then.
    /// - Throws: if the daemon did not confirm that the curtain is up. It may still be up if the code is `timedOut`.
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

    /// Releases this app's hold on the curtain. It falls when nobody else holds it up.
    ///
    /// - Returns: the curtain's state afterwards.
    /// - Throws: if the daemon did not agree. The hold then stays, unless the code is `timedOut`.
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

    /// Hides a rectangle of the picture until the region is removed, or moves the region of that name. When this
    /// returns, no further picture shows the rectangle, except one that is being encoded at that moment. Pictures that
    /// were encoded before and wait are still sent.
    ///
    /// - Parameters:
    ///   - region: what is hidden.
    ///   - name: 1 to 64 characters, of those that `CapturedApp.name` may have.
    ///   - reason: for the log; cut at 200 bytes.
    /// - Throws: `refused` for an invalid name or number, and if there are already 64 regions, 48 of apps, or 32 of
    ///   this user's apps.
    public func hide(
        _ region: HiddenRegion, named name: String, reason: String = ""
    ) throws(UpcastPrivacyError) {
        var request = region.request
        (request.app, request.name, request.reason) = (self.name, name, Self.given(reason))
        _ = try ask("POST", "/regions", request, Consequence.hide)
    }

    /// Removes a region: viewers see its rectangle again, from the client's next picture on.
    ///
    /// - Parameter name: the region's name.
    /// - Returns: whether this app had a region of that name.
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

    /// The reason to send; nil if it is empty.
    private static func given(_ reason: String) -> String? { reason.isEmpty ? nil : cut(reason, to: 200) }

    /// Cuts a text, because a call must not fail if its reason is too long.
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
