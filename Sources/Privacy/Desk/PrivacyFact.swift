internal import ControlProtocol
package import MediaCore

/// A privacy event, for the log and the audit log.
package enum PrivacyFact: Equatable, Sendable {
    case curtainRaised(CurtainRaise)
    case curtainReleased(CurtainRelease)
    case regionHidden(StandingRegion, isNew: Bool, reason: String)
    case regionsShown([StandingRegion], of: String, name: String?, reason: String)
    case protectionTurned(Protection, isOn: Bool, isForced: Bool)
    /// A command tried to turn the protection off while it was relied on.
    case protectionKeptOn(Protection, isForced: Bool)
    case consultingBegan(PrivacyHolder)
    case consultingEnded(PrivacyHolder, wasAwaited: Bool)
    /// The app was consulted before a restart, and has not come back in time.
    case consultedAppMissing(PrivacyHolder)
    case consultationAnswered(PrivacyHolder, Consultation.Answer)
    case consultationImpossible(why: String)
    case stateFileIsNew(path: String)
    case stateRestored(path: String, [Curtain.Hold], [StandingRegion], consulting: [PrivacyHolder])
    case stateUnreadable(path: String, why: String, keptAs: String?)
    /// A command turned the protection before the restart.
    case protectionRestored(Protection, isOn: Bool)
    /// The configuration turns the protection off, but it was relied on before the restart.
    case protectionKeptOnAtStart(Protection)
    case stateFile(PrivacyKeeper.News)
    case auditLog(AuditLog.News)
    /// The process ends before the disk has taken these lines.
    case auditLinesLost(Int)

    package struct CurtainRaise: Equatable, Sendable {
        package var holder: PrivacyHolder
        /// False if there was no room, so that another hold represents this one.
        package var hasRoom: Bool
        /// Whether the curtain was down before.
        package var isFirst: Bool
        package var reason: String
        package var receipt: CurtainReceipt
    }

    package struct CurtainRelease: Equatable, Sendable {
        /// The released holds.
        package var holds: [Curtain.Hold]
        /// The holders that still hold the curtain up.
        package var left: [PrivacyHolder]
        package var isDown: Bool
        package var reason: String
    }
}

/// A line of the audit log.
struct AuditLine: Equatable {
    var event: String
    /// Whether the line counts towards the allowance for regions.
    var isRegion = false
    /// Whether the line is about a protection, which applies to all broadcasts. All other lines are about the current
    /// one.
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
    /// The fact's lines in the audit log. See "The audit log" in docs/privacy.md.
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
    /// The members that name the actor in the audit log.
    var members: [JSONValue.Member] {
        if showsToken { return [.init("by", .string("token"))] }
        // The daemon itself has no user and no process.
        guard user != nil || process != nil else { return [] }
        let who = user.map { JSONValue.Member("by_user", .integer(Int($0))) } ?? .init("by", .string("unknown"))
        return [who] + (process.map { [.init("by_process", .integer(Int($0)))] } ?? [])
    }
}
