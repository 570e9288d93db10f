internal import Control
internal import ControlProtocol
internal import LinuxSystem
internal import Pipeline
internal import Privacy

/// The routes for captured apps: the capture state, and consultation before the app is shown.
extension ControlRoutes {
    mutating func addCaptureState(of host: BroadcastHost) {
        add("GET", "/state", for: .all) { _ in
            guard host.privacy.tellsCaptureState else { return Self.stateIsOff }
            return ControlResponse(status: 200, json: host.privacy.captureState.json)
        }
        add("GET", "/state/events", for: .all, answering: { request in
            guard host.privacy.tellsCaptureState else { return .response(Self.stateIsOff) }
            do throws(CommandRefusal) {
                let consulted = try Self.consulted(request)
                if let (asker, _) = consulted { try host.privacy.requireRoomToConsult(asker.holder) }
                // Tells whether the state file has the consultation; nil without a state file.
                let written = Monitor<(@Sendable () -> Bool?)?>(nil)
                let persisted: @Sendable (Int64) -> JSONValue? = { elapsed in
                    guard let isWritten = written.withLock({ $0 }) else { return .null }
                    return isWritten().map { .bool($0) } ?? (elapsed < PrivacyDesk.statePatience ? nil : .bool(false))
                }
                return .captureStates(
                    { host.privacy.captureStates(after: $0) }, persisted: consulted == nil ? nil : persisted,
                    open: { wake in
                        let unwatch = host.privacy.watchCaptures(wake)
                        guard let (asker, answers) = consulted else { return unwatch }
                        // The consultation lasts as long as the connection.
                        let (id, isWritten) = host.privacy.consult(asker.holder, answers, by: asker.actor)
                        written.withLock { $0 = isWritten }
                        return {
                            unwatch()
                            host.privacy.dismiss(id, by: asker.actor)
                        }
                    })
            } catch {
                return .response(Self.failure(error))
            }
        })
        add("POST", "/state/release", for: .all) { request in
            Self.answer { () throws(CommandRefusal) in
                let body = try Self.body(of: request, as: ReleaseRequest.self)
                let asker = try Asker(request, app: body.app, user: body.user)
                // Without a number, an operator means the current capture.
                guard body.capture != nil || body.app == nil else {
                    throw CommandRefusal(
                        code: .badValue,
                        sentence: "capture must be the number of the capture, from its event")
                }
                var answer = ReleaseAnswer()
                answer.isReleased = host.privacy.answer(.released, of: body.capture, by: asker.actor) {
                    body.app == nil || asker.mayLetGo($0)
                }
                return answer
            }
        }
    }

    /// The app that asks to be consulted, from the query; nil for none.
    private static func consulted(
        _ request: ControlRequest
    ) throws(CommandRefusal) -> (asker: Asker, answers: Consultation.Answers)? {
        guard request.query != nil else { return nil }
        let names = request.parameterNames.map { String($0) }
        let app = request.parameter("app")
        let answers = request.parameter("consult").flatMap { Consultation.Answers(rawValue: $0) }
        // A misspelt query must not register a watcher that is never consulted.
        guard names.allSatisfy({ ["app", "consult"].contains($0) }), names.count == Set(names).count,
            let app, answers != nil || !names.contains("consult")
        else {
            throw CommandRefusal(
                code: .badValue,
                sentence: "the query must be app=NAME&consult=true or app=NAME&consult=release, or empty")
        }
        let asker = try Asker(request, app: app)
        return answers.map { (asker, $0) }
    }

    private static var stateIsOff: ControlResponse {
        .failure(409, "turned_off", "privacy.capture_state is off; this daemon does not report the capture state")
    }
}
