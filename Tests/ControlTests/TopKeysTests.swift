import Control
import ControlClient
import ControlProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import upcastctl

/// The keys of `upcastctl top`.
@Suite struct TopKeysTests {
    /// - Parameter holders: of the curtain; it is up if there are any.
    private func status(_ state: StatusReport.State = .live, heldBy holders: [String] = []) -> StatusReport {
        var status = StatusReport()
        status.state = state
        status.privacy.curtain.isUp = !holders.isEmpty
        status.privacy.curtain.holders = holders.map { name in
            var holder = CurtainHolderStatus()
            holder.holder = name
            return holder
        }
        return status
    }

    private func press(_ text: String, _ status: StatusReport?) -> (actions: [TopAction], mode: TopKeys.Mode) {
        var keys = TopKeys()
        let actions = keys.press(Array(text.utf8), status)
        return (actions, keys.mode)
    }

    @Test func plainKeys() {
        #expect(press("q", nil).actions == [.quit] && press("Q", nil).actions == [.quit])
        #expect(press("r", status()).actions == [.retry] && press("k", status()).actions == [.keyframe])
        #expect(press("p", status()).actions == [.pause] && press("p", status(.paused)).actions == [.resume])
        #expect(press("xyn\n\u{7F}", status()).actions == [])
    }

    /// Raising asks nothing, and it is what happens where the state is not known.
    @Test func theCurtainGoesUpAtOnce() {
        for status in [nil, status(), status(heldBy: ["app:kiosk", "client"])] {
            #expect(press("c", status) == (actions: [.raise], mode: .normal))
        }
    }

    @Test(arguments: [
        ("cy", [.lower]), ("cY", [.lower]), ("cn", []), ("c\n", []), ("cc", []), ("cq", []), ("cny", []),
    ] as [(String, [TopAction])])
    func theCurtainGoesDownAfterAQuestion(text: String, actions: [TopAction]) {
        #expect(press(text, status(heldBy: ["app:kiosk", "operator"])) == (actions: actions, mode: .normal))
    }

    @Test func theQuestionStays() {
        #expect(press("c", status(heldBy: ["operator"])) == (actions: [], mode: .confirmsLowering))
    }

    /// Arrows and other keys that begin with ESC do nothing, and answer no question.
    @Test(arguments: ["\u{1B}", "\u{1B}[A", "\u{1B}Oc", "\u{1B}y"]) func escapes(text: String) {
        var keys = TopKeys()
        _ = keys.press(Array("c".utf8), status(heldBy: ["operator"]))
        #expect(keys.press(Array(text.utf8), status(heldBy: ["operator"])) == [] && keys.mode == .normal)
    }

    @Test func help() {
        #expect(press("?", nil).mode == .help && press("h", nil).mode == .help)
        #expect(press("?c", nil) == (actions: [], mode: .normal), "any key only closes it")
        #expect(press("?q", nil).actions == [.quit])
    }

    // MARK: What a key does

    /// What was asked of a daemon that answers `answers` by method and path, and what `top` says.
    private func perform(
        _ action: TopAction, _ answers: [(method: String, path: String, answer: ControlResponse)]
    ) throws -> (notice: TopControl.Notice?, asked: [String]) {
        let folder = try TemporaryDirectory("keys")
        let asked = Monitor([String]())
        var routes = ControlRoutes()
        for (method, path, answer) in answers {
            routes.add(method, path) { _ in
                asked.withLock { $0.append("\(method) \(path)") }
                return answer
            }
        }
        let server = ControlServer(path: folder.file("s"), mode: 0o600, routes: routes)
        try server.start()
        defer { server.stop() }
        let notice = TopControl(client: ControlClient(address: .unix(folder.file("s")))).perform(action)
        return (notice, asked.withLock { $0 })
    }

    @Test func commands() throws {
        let done = ControlResponse(status: 200, json: .object([]))
        for (action, path) in [
            (TopAction.raise, "/curtain/up"), (.pause, "/pause"), (.resume, "/resume"), (.keyframe, "/keyframe"),
        ] {
            let (notice, asked) = try perform(action, [("POST", path, done)])
            #expect(asked == ["POST \(path)"] && notice?.isBad == false, "\(action)")
        }
        for (isUp, isBad) in [(true, true), (false, false)] {
            var answer = CurtainDownAnswer()
            (answer.isUp, answer.isReleased) = (isUp, true)
            let (notice, _) = try perform(.lower, [("POST", "/curtain/down", .init(status: 200, json: answer.json))])
            #expect(notice?.isBad == isBad && notice?.text.contains(isUp ? "keep the curtain up" : "down") == true)
        }
        var live = DestinationsAnswer()
        live.destinations = StatusReport.full.destinations
        let retry = try perform(
            .retry,
            [("GET", "/destinations", .init(status: 200, json: live.json)), ("POST", "/destinations/retry", done)])
        #expect(retry.asked.last == "POST /destinations/retry" && retry.notice?.isBad == true)
    }

    @Test func refusals() throws {
        let refusal = ControlResponse.failure(409, "turned_off", "the curtain is turned off: nothing is hidden")
        let (notice, _) = try perform(.raise, [("POST", "/curtain/up", refusal)])
        #expect(notice?.isBad == true && notice?.text.hasPrefix("THE CURTAIN IS NOT RAISED: ") == true)
        #expect(notice?.text.hasSuffix("nothing is hidden") == true)
    }
}
