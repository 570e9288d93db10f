internal import Control
internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Pipeline
internal import Privacy

/// The routes for the curtain, standing regions and protections.
///
/// A captured app adds and releases its own holds: those with its name and user. An operator can release the holds of
/// any app.
extension ControlRoutes {
    mutating func addPrivacy(of host: BroadcastHost) {
        add("POST", "/curtain/up", for: .all, answering: { request in
            Self.kept(by: host) { () throws(CommandRefusal) in
                let body = try Self.body(of: request, as: CurtainUpRequest.self)
                let asker = try Asker(request, app: body.app)
                var answer = CurtainUpAnswer()
                answer.report = try host.privacy.raise(
                    asker.holder, reason: try Self.reason(body.reason), by: asker.actor)
                answer.isUp = true
                return answer
            }
        })
        add("POST", "/curtain/down", for: .all, answering: { request in
            Self.kept(by: host) { () throws(CommandRefusal) in
                let body = try Self.body(of: request, as: CurtainDownRequest.self)
                let (reason, force) = (try Self.reason(body.reason), body.force)
                guard !force || request.peer.isOperator else {
                    throw CommandRefusal(
                        code: .forbidden,
                        sentence: "force releases the holds of others; only an operator can use it")
                }
                guard !force || (body.app == nil && body.user == nil) else {
                    throw CommandRefusal(
                        code: .badValue, sentence: "force releases all holds; omit app and user")
                }
                let asker = try Asker(request, app: body.app, user: body.user)
                var answer = CurtainDownAnswer()
                answer.isReleased = host.privacy.lower(
                    by: asker.actor,
                    reason: reason.isEmpty ? (force ? "an operator's force" : "the holder released it") : reason
                ) { force || asker.mayLetGo($0) }
                answer.isUp = host.privacy.isCurtainUp
                return answer
            }
        })
    }

    mutating func addRegions(of host: BroadcastHost) {
        add("POST", "/regions", for: .all, answering: { request in
            Self.kept(by: host) { () throws(CommandRefusal) in
                let body = try Self.body(of: request, as: RegionRequest.self)
                let asker = try Asker(request, app: body.app)
                try host.privacy.hide(
                    try Self.region(body, of: asker.holder), reason: try Self.reason(body.reason), by: asker.actor)
                return RegionAnswer()
            }
        })
        add("DELETE", "/regions", for: .all, answering: { request in
            Self.kept(by: host) { () throws(CommandRefusal) in
                // An invalid name must not select the regions of others, or all.
                let wanted = request.parameterNames.map { String($0) }
                let known = ["app", "user", "name", "reason"]
                guard wanted.allSatisfy({ known.contains($0) && request.parameter($0) != nil }),
                    wanted.count == Set(wanted).count
                else {
                    throw CommandRefusal(
                        code: .badValue,
                        sentence:
                            "the query can have app=NAME, user=UID, name=NAME and reason=TEXT, as percent-encoded UTF-8"
                    )
                }
                let name = request.parameter("name")
                let asker = try Asker(
                    request, app: request.parameter("app"),
                    // An invalid number matches no user.
                    user: request.parameter("user").map { UInt32($0).map { Int($0) } ?? -1 })
                try host.privacy.show(
                    name, of: "\(asker.holder)", reason: try Self.reason(request.parameter("reason")),
                    by: asker.actor
                ) { asker.mayLetGo($0) }
                return RegionAnswer()
            }
        })
    }

    mutating func addProtections(of host: BroadcastHost) {
        add("POST", "/protections", answering: { request in
            Self.kept(by: host) { () throws(CommandRefusal) in
                let body = try Self.body(of: request, as: ProtectionRequest.self)
                guard let protection = body.name.flatMap({ Protection(rawValue: $0) }) else {
                    let all = Protection.allCases.map(\.rawValue).joined(separator: ", ")
                    throw CommandRefusal(code: .badValue, sentence: "name must be one of \(all)")
                }
                try host.privacy.turn(protection, on: body.isOn, force: body.force, by: Asker.actor(request))
                var answer = ProtectionAnswer()
                (answer.name, answer.isOn) = (protection.rawValue, body.isOn)
                return answer
            }
        })
    }

    /// How often an answer checks whether the state file is written. Most disks need some milliseconds.
    private static let statePeriod: Int64 = 2

    /// Answers a command that changes the state file. The answer waits until the file is written, and reports that in
    /// `persisted`: false if the disk fails or takes too long, nil without a state file. The change itself is in effect
    /// in any case.
    private static func kept<Answer: KeptAnswer>(
        by host: BroadcastHost, _ command: () throws(CommandRefusal) -> Answer
    ) -> ControlAnswer {
        let answer: Answer
        do throws(CommandRefusal) { answer = try command() } catch { return .response(failure(error)) }
        let response = { @Sendable (isPersisted: Bool?) in
            var answer = answer
            answer.persisted = isPersisted
            return ControlResponse(status: 200, json: answer.json)
        }
        guard let isWritten = host.privacy.keepState() else { return .response(response(nil)) }
        return .later(
            milliseconds: PrivacyDesk.statePatience, every: statePeriod, poll: { isWritten().map(response) },
            otherwise: { response(isWritten() ?? false) })
    }

    private static func region(
        _ body: RegionRequest, of holder: PrivacyHolder
    ) throws(CommandRefusal) -> StandingRegion {
        guard let name = body.name, PrivacyHolder.isName(name) else {
            throw CommandRefusal(
                code: .badValue, sentence: "name must have 1 to 64 ASCII letters, digits, '.', '-', '_' or '/'")
        }
        let unit: StandingRegion.Unit = body.unit == .pixels ? .pixels : .normalized
        // Without a unit, values larger than the picture were probably meant as pixels.
        let limit = body.unit == nil ? 1.0 : unit.limit
        func number(_ name: String, _ value: Double, atLeast least: Double) throws(CommandRefusal) -> Double {
            guard value >= least, value <= limit else {
                throw CommandRefusal(
                    code: .badValue,
                    sentence: "\(name) must be a number from \(Int(least)) to \(Int(limit))"
                        + (unit == .normalized ? ", a fraction of the picture; for pixels, set unit to pixels" : ""))
            }
            return value
        }
        let (x, y) = (try number("x", body.x, atLeast: -limit), try number("y", body.y, atLeast: -limit))
        let (width, height) = (
            try number("width", body.width, atLeast: 0), try number("height", body.height, atLeast: 0)
        )
        let region = StandingRegion(
            holder: holder, name: name, edges: RectEdges(left: x, top: y, right: x + width, bottom: y + height),
            unit: unit)
        if let why = region.whyItHidesNothing { throw CommandRefusal(code: .badValue, sentence: why) }
        return region
    }

    private static func reason(_ text: String?) throws(CommandRefusal) -> String {
        let text = text ?? ""
        guard text.utf8.count <= PrivacyRecord.maxReasonBytes else {
            throw CommandRefusal(
                code: .badValue, sentence: "reason must be text of at most \(PrivacyRecord.maxReasonBytes) bytes")
        }
        return text
    }
}

/// The app or operator for which a request is made.
struct Asker {
    let holder: PrivacyHolder
    let actor: PrivacyActor
    private let isOperator: Bool
    /// If several users have an app with the same name: the user whose app an operator means.
    private let meantUser: UInt32?

    /// - Parameters:
    ///   - app: the app's name; nil for the operator.
    ///   - user: the user whose app an operator means; nil for all apps of that name.
    init(_ request: ControlRequest, app: String?, user: Int? = nil) throws(CommandRefusal) {
        isOperator = request.peer.isOperator
        actor = Self.actor(request, app == nil ? .operator : .app)
        switch user {
        case nil: meantUser = nil
        case .some(let number) where app != nil && UInt32(exactly: number) != nil:
            meantUser = UInt32(exactly: number)
            guard isOperator || meantUser == actor.user else {
                throw CommandRefusal(
                    code: .forbidden, sentence: "user: only an operator can release the hold of another user's app")
            }
        default:
            throw CommandRefusal(
                code: .badValue, sentence: "user must be the number of the app's user, together with app")
        }
        guard let app else {
            guard isOperator else {
                throw CommandRefusal(
                    code: .forbidden, sentence: "only an operator can omit app")
            }
            holder = PrivacyHolder(.operator)
            return
        }
        guard PrivacyHolder.isName(app) else {
            throw CommandRefusal(
                code: .badValue, sentence: "app must have 1 to 64 ASCII letters, digits, '.', '-', '_' or '/'")
        }
        holder = PrivacyHolder(.app, app, user: request.peer.credentials?.userID)
    }

    /// Whether the asker may release the holds of `other`.
    func mayLetGo(_ other: PrivacyHolder) -> Bool {
        // Users without a number in this namespace are not the same user.
        guard isOperator else { return holder.user != nil && other == holder }
        return (other.kind, other.name) == (holder.kind, holder.name)
            && (meantUser == nil || meantUser == other.user)
    }

    static func actor(_ request: ControlRequest, _ kind: PrivacyHolder.Kind = .operator) -> PrivacyActor {
        PrivacyActor(
            kind, user: request.peer.credentials?.userID, process: request.peer.credentials?.processID,
            showsToken: request.peer.showsToken)
    }
}
