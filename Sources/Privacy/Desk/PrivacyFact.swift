internal import ControlProtocol
internal import MediaCore

/// What has happened to something private, for the log and the audit log.
package enum PrivacyFact: Equatable, Sendable {
    case curtainRaised(CurtainRaise)
    case curtainReleased(CurtainRelease)
    case regionHidden(StandingRegion, isNew: Bool, reason: String)
    case regionsShown([StandingRegion], of: String, name: String?, reason: String)
    case protectionTurned(Protection, isOn: Bool, isForced: Bool)
    /// A command would have turned it off while somebody relied on it.
    case protectionKeptOn(Protection, isForced: Bool)
    case consultingBegan(PrivacyHolder)
    case consultingEnded(PrivacyHolder, wasAwaited: Bool)
    /// It was consulted before a restart, and has not come back in time.
    case consultedAppMissing(PrivacyHolder)
    case consultationAnswered(PrivacyHolder, Consultation.Answer)
    case consultationImpossible(why: String)
    case stateFileIsNew(path: String)
    case stateRestored(path: String, [Curtain.Hold], [StandingRegion], consulting: [PrivacyHolder])
    case stateUnreadable(path: String, why: String, keptAs: String?)
    /// A command turned it before the restart.
    case protectionRestored(Protection, isOn: Bool)
    /// The configuration turns it off, and somebody relied on it before the restart.
    case protectionKeptOnAtStart(Protection)
    case stateFile(PrivacyKeeper.News)
    case auditLog(AuditLog.News)
    /// The process ends before its disk has taken these lines.
    case auditLinesLost(Int)

    package struct CurtainRaise: Equatable, Sendable {
        package var holder: PrivacyHolder
        /// False where another one for which there was no room stands for it.
        package var hasRoom: Bool
        /// It was down before.
        package var isFirst: Bool
        package var reason: String
        package var receipt: CurtainReceipt
    }

    package struct CurtainRelease: Equatable, Sendable {
        /// Those that let go.
        package var holds: [Curtain.Hold]
        /// Who still holds it up.
        package var left: [PrivacyHolder]
        package var isDown: Bool
        package var reason: String
    }
}

/// A line of the audit log.
struct AuditLine: Equatable {
    var event: String
    /// Whether it is on the allowance for regions.
    var isRegion = false
    /// A switch is turned for all broadcasts; everything else is about the one that runs.
    var isAboutProtection = false
    var members: [JSONValue.Member]

    init(_ event: String, _ holder: PrivacyHolder, isRegion: Bool = false, _ more: [JSONValue.Member] = []) {
        (self.event, self.isRegion) = (event, isRegion)
        members = [.init("holder", .string("\(holder)"))]
        if let user = holder.user { members.append(.init("holder_user", .integer(Int(user)))) }
        members += more
    }

    init(_ event: String, _ protection: Protection, isForced: Bool) {
        (self.event, isAboutProtection) = (event, true)
        members = [.init("protection", .string(protection.rawValue)), .init("forced", .bool(isForced))]
    }
}

extension PrivacyFact {
    /// What the audit log has of it. Docs: "The audit log" in docs/privacy.md.
    var auditLines: [AuditLine] {
        switch self {
        case .curtainRaised(let raise): [raise.auditLine]
        case .curtainReleased(let release): release.auditLines
        case .regionHidden(let region, let isNew, let reason):
            [
                AuditLine(
                    isNew ? "region_hidden" : "region_moved", region.holder, isRegion: true,
                    [
                        .init("reason", .string(reason)), .init("region", .string(region.name)),
                        .init("unit", .string(region.unit.rawValue)),
                        .init("x", .number(region.edges.left)), .init("y", .number(region.edges.top)),
                        .init("width", .number(region.edges.right - region.edges.left)),
                        .init("height", .number(region.edges.bottom - region.edges.top)),
                    ])
            ]
        case .regionsShown(let regions, _, _, let reason):
            regions.map { region in
                AuditLine(
                    "region_shown", region.holder, isRegion: true,
                    [.init("reason", .string(reason)), .init("region", .string(region.name))])
            }
        case .protectionTurned(let protection, let isOn, let isForced):
            [AuditLine(isOn ? "protection_on" : "protection_off", protection, isForced: isForced)]
        case .protectionKeptOn(let protection, let isForced):
            [AuditLine("protection_kept_on", protection, isForced: isForced)]
        case .protectionKeptOnAtStart(let protection):
            [AuditLine("protection_kept_on", protection, isForced: false)]
        case .consultingBegan(let app): [AuditLine("consulting_began", app)]
        case .consultingEnded(let app, let wasAwaited):
            [AuditLine("consulting_ended", app, [.init("unanswered", .bool(wasAwaited))])]
        case .consultedAppMissing(let app):
            [AuditLine("consulting_ended", app, [.init("unanswered", .bool(true))])]
        case .consultationAnswered(let app, let answer):
            [AuditLine("consultation_answered", app, [.init("answer", .string(answer.rawValue))])]
        case .stateRestored(_, let holds, let regions, _):
            holds.map { AuditLine("curtain_restored", $0.holder, [.init("reason", .string($0.reason))]) }
                + regions.map { region in
                    AuditLine(
                        "region_restored", region.holder, isRegion: true, [.init("region", .string(region.name))])
                }
        case .stateUnreadable(_, let why, _):
            [AuditLine("curtain_raised", .stateUnreadable, [.init("reason", .string(why))])]
        case .consultationImpossible, .stateFileIsNew, .protectionRestored, .stateFile, .auditLog, .auditLinesLost: []
        }
    }
}

extension PrivacyFact.CurtainRaise {
    fileprivate var auditLine: AuditLine {
        var members: [JSONValue.Member] = [.init("reason", .string(reason))]
        if isFirst { members += receipt.members }
        if !hasRoom { members.append(.init("for", .string("\(holder)"))) }
        return AuditLine(isFirst ? "curtain_raised" : "curtain_held", hasRoom ? holder : Curtain.tooMany, members)
    }
}

extension PrivacyFact.CurtainRelease {
    fileprivate var auditLines: [AuditLine] {
        holds.map { hold in
            AuditLine(
                isDown && hold == holds.last ? "curtain_lowered" : "curtain_released", hold.holder,
                [.init("reason", .string(reason))])
        }
    }
}

extension PrivacyActor {
    /// Whom the audit log names.
    var members: [JSONValue.Member] {
        if showsToken { return [.init("by", .string("token"))] }
        // Nobody but the daemon.
        guard user != nil || process != nil else { return [] }
        let who = user.map { JSONValue.Member("by_user", .integer(Int($0))) } ?? .init("by", .string("unknown"))
        return [who] + (process.map { [.init("by_process", .integer(Int($0)))] } ?? [])
    }
}
