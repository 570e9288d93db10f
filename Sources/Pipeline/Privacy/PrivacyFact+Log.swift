internal import Logging
internal import Privacy

extension PrivacyFact {
    /// Says it to whoever reads the log.
    func log(to logger: Logger) {
        switch self {
        case .curtainRaised(let raise): raise.log(to: logger)
        case .curtainReleased(let release): release.log(to: logger)
        case .regionHidden(let region, let isNew, let reason):
            logger.notice(
                isNew ? "region hidden" : "region moved",
                metadata: ["holder": "\(region.holder)", "region": "\(region.name)", "why": "\(reason)"])
        case .regionsShown(_, let whose, let name, let reason):
            logger.notice(
                "region shown again",
                metadata: ["holder": "\(whose)", "region": "\(name ?? "all")", "why": "\(reason)"])
        case .protectionTurned(let protection, let isOn, let isForced):
            logger.log(
                level: isOn ? .notice : .warning, isOn ? "protection turned on" : "protection turned off",
                metadata: ["protection": "\(protection.rawValue)", "forced": "\(isForced)"])
        case .protectionKeptOn: break
        case .consultingBegan(let app):
            logger.notice("app is consulted", metadata: ["app": "\(app)", "now": "each capture waits for its answer"])
        case .consultingEnded(let app, let wasAwaited):
            logger.notice(
                "app is no longer consulted",
                metadata: ["app": "\(app)", "why": "its connection ended", "unanswered": "\(wasAwaited)"])
        case .consultedAppMissing(let app):
            logger.warning(
                "consulted app has not come back",
                metadata: ["app": "\(app)", "now": "nothing waits for its answer until it is there again"])
        case .consultationAnswered(let app, let answer):
            logger.info("app has answered", metadata: ["app": "\(app)", "answer": "\(answer.rawValue)"])
        case .consultationImpossible(let why):
            logger.warning("apps are not waited for", metadata: ["why": "\(why)"])
        case .stateFileIsNew(let path): logger.notice("state file is new", metadata: ["file": "\(path)"])
        case .stateRestored(let path, let holds, let regions, let consulting):
            logger.notice(
                "state restored",
                metadata: [
                    "file": "\(path)", "holders": "\(holds.map(\.holder.description).joined(separator: ", "))",
                    "regions": "\(regions.count)",
                    "consulted": "\(consulting.map(\.description).joined(separator: ", "))",
                ])
        case .stateUnreadable(let path, let why, let keptAs): Self.logUnreadable(path, why, keptAs, to: logger)
        case .protectionRestored(let protection, let isOn):
            logger.warning(
                "protection is not as configured",
                metadata: [
                    "protection": "\(protection.rawValue)", "on": "\(isOn)",
                    "why": "a command turned it before the restart; a reload brings it to what the file says",
                ])
        case .protectionKeptOnAtStart(let protection):
            logger.warning(
                "protection kept on",
                metadata: [
                    "protection": "\(protection.rawValue)",
                    "why": "the configuration turns it off, and somebody relied on it before the restart",
                ])
        case .stateFile(let news): news.log(to: logger)
        case .auditLog(let news): news.log(to: logger)
        case .auditLinesLost(let lines):
            logger.error(
                "audit log not written",
                metadata: [
                    "why": "its disk hangs", "lost": "\(lines)", "now": "the process ends without these lines",
                ])
        }
    }

    private static func logUnreadable(_ path: String, _ why: String, _ keptAs: String?, to logger: Logger) {
        let file =
            keptAs.map { "the file is kept as \($0)" }
            ?? "the file cannot be moved: nothing is written until it is removed and the daemon restarted"
        logger.critical(
            "state file cannot be read",
            metadata: [
                "file": "\(path)", "why": "\(why)",
                "now": """
                nobody knows what was hidden: the curtain is up until an operator lets go of it \
                (upcastctl curtain down --force); \(file)
                """,
            ])
    }
}

extension PrivacyFact.CurtainRaise {
    fileprivate func log(to logger: Logger) {
        logger.log(
            level: [holder].level, isFirst ? "curtain raised" : "curtain held by one more",
            metadata: [
                "holder": "\(holder)", "why": "\(reason)",
                "taken_back": "\(receipt.videoPackets) pictures, \(receipt.audioPackets) packets of sound",
            ])
    }
}

extension PrivacyFact.CurtainRelease {
    fileprivate func log(to logger: Logger) {
        let holders = holds.map(\.holder)
        var metadata: Logger.Metadata = [
            "holder": "\(holders.map(\.description).joined(separator: ", "))", "why": "\(reason)",
        ]
        if !isDown {
            metadata["now"] = "it stays up for \(left.map(\.description).joined(separator: ", "))"
        }
        logger.log(level: holders.level, isDown ? "curtain lowered" : "curtain let go by one", metadata: metadata)
    }
}

extension [PrivacyHolder] {
    /// That nothing is shown before there is something to show is every broadcast's way.
    fileprivate var level: Logger.Level { allSatisfy { $0 == .start || $0 == .consulting } ? .info : .notice }
}

extension PrivacyKeeper.News {
    fileprivate func log(to logger: Logger) {
        switch self {
        case .failing(let why):
            logger.error(
                "state file not written",
                metadata: [
                    "why": "\(why)",
                    "now": """
                    what is hidden stays hidden; a restart would forget the changes, and answers say so \
                    (persisted: false); it is tried again each second
                    """,
                ])
        case .writing: logger.notice("state file written again")
        }
    }
}

extension AuditLog.News {
    fileprivate func log(to logger: Logger) {
        switch self {
        case .failing(let why):
            logger.error(
                "audit log not written",
                metadata: [
                    "why": "\(why)", "now": "lines are lost, and counted (privacy.audit_lost in the status)",
                ])
        case .waiting(let lines):
            logger.error(
                "audit log waits for its disk",
                metadata: [
                    "lines": "\(lines)",
                    "now": """
                    up to \(AuditLog.capacity) lines are kept; further ones are lost, and counted \
                    (privacy.audit_lost in the status)
                    """,
                ])
        case .writing(let lost): logger.notice("audit log written again", metadata: ["lost": "\(lost)"])
        case .notReopened(let why):
            logger.error(
                "part of the configuration was not applied",
                metadata: ["why": "\(why)", "now": "the audit log goes on in the file that is open"])
        case .flooded(let who, let lines):
            logger.warning("audit lines left out", metadata: ["by": "\(who)", "lines": "\(lines)"])
        }
    }
}
