internal import ControlProtocol
internal import Logging
internal import Privacy

extension PrivacyFact {
    /// Logs the fact.
    func log(to logger: Logger) { if let event { logger.tell(event) } }

    /// The event; nil if only the audit log gets the fact.
    private var event: DaemonEvent? {
        switch self {
        case .curtainRaised(let raise): raise.event
        case .curtainReleased(let release): release.event
        case .regionHidden(let region, let isNew, let reason):
            isNew
                ? .regionHidden(holder: "\(region.holder)", region: region.name, why: reason)
                : .regionMoved(holder: "\(region.holder)", region: region.name, why: reason)
        case .regionsShown(_, let whose, let name, let reason):
            .regionShownAgain(holder: whose, region: name, why: reason)
        case .protectionTurned(let protection, let isOn, let isForced):
            isOn
                ? .protectionTurnedOn(protection: protection, forced: isForced)
                : .protectionTurnedOff(protection: protection, forced: isForced)
        case .protectionKeptOn: nil
        case .consultingBegan(let app): .appIsConsulted(app: "\(app)")
        case .consultingEnded(let app, let wasAwaited):
            .appIsNoLongerConsulted(app: "\(app)", unanswered: wasAwaited)
        case .consultedAppMissing(let app): .consultedAppHasNotComeBack(app: "\(app)")
        case .consultationAnswered(let app, let answer): .appHasAnswered(app: "\(app)", answer: answer.rawValue)
        case .consultationImpossible(let why): .appsAreNotWaitedFor(why: why)
        case .stateFileIsNew(let path): .stateFileIsNew(file: path)
        case .stateRestored(let path, let holds, let regions, let consulting):
            .stateRestored(
                file: path, holders: holds.map(\.holder.description), regions: regions.count,
                consulted: consulting.map(\.description))
        case .stateUnreadable(let path, let why, let keptAs):
            .stateFileCannotBeRead(file: path, why: why, keptAs: keptAs)
        case .protectionRestored(let protection, let isOn):
            .protectionIsNotAsConfigured(protection: protection, isOn: isOn)
        case .protectionKeptOnAtStart(let protection): .protectionKeptOn(protection: protection)
        case .stateFile(.failing(let why)): .stateFileNotWritten(why: why)
        case .stateFile(.writing): .stateFileWrittenAgain
        case .auditLog(let news): news.event
        case .auditLinesLost(let lines): .auditLogNotWritten(why: "its disk hangs", lost: lines)
        }
    }
}

extension PrivacyFact.CurtainRaise {
    fileprivate var event: DaemonEvent {
        let isRoutine = [holder].areRoutine
        guard isFirst else { return .curtainHoldAdded(holder: "\(holder)", why: reason, isRoutine: isRoutine) }
        return .curtainRaised(
            holder: "\(holder)", why: reason, takenBackVideoPackets: receipt.videoPackets,
            takenBackAudioPackets: receipt.audioPackets, isRoutine: isRoutine)
    }
}

extension PrivacyFact.CurtainRelease {
    fileprivate var event: DaemonEvent {
        let holders = holds.map(\.holder)
        let (names, isRoutine) = (holders.map(\.description), holders.areRoutine)
        guard !isDown else { return .curtainLowered(holders: names, why: reason, isRoutine: isRoutine) }
        return .curtainHoldReleased(
            holders: names, why: reason, heldBy: left.map(\.description), isRoutine: isRoutine)
    }
}

extension [PrivacyHolder] {
    /// Every broadcast starts behind the curtain, so this hold is routine.
    fileprivate var areRoutine: Bool { allSatisfy { $0 == .start || $0 == .consulting } }
}

extension AuditLog.News {
    fileprivate var event: DaemonEvent {
        switch self {
        case .failing(let why): .auditLogNotWritten(why: why)
        case .waiting(let lines): .auditLogWaitsForItsDisk(lines: lines, capacity: AuditLog.capacity)
        case .writing(let lost): .auditLogWrittenAgain(lost: lost)
        case .notReopened(let why):
            .configurationNotApplied(why: why, now: "the audit log goes on in the file that is open")
        case .flooded(let who, let lines): .auditLinesLeftOut(by: who, lines: lines)
        }
    }
}
