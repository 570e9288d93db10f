package import ControlProtocol
package import LinuxSystem
package import MediaCore

/// The entry point for everything that is hidden from viewers. It raises and lowers the curtain, hides and shows
/// regions, turns protections on and off, consults captured apps, and keeps the state that outlives the daemon.
///
/// Any thread. Each method has done its work when it returns, writes the audit log, and reports a `PrivacyFact`. The
/// desk does not know broadcasts; `PrivacyEffects` acts on them.
package final class PrivacyDesk: Sendable {
    /// The settings of the configuration.
    package struct Policy: Sendable {
        /// Protections that are off at the start.
        package var off: Set<Protection>
        /// A raise of the curtain takes back only packets newer than this; nil for all.
        package var takeBackNewerThan: MediaTime?
        /// How long a restarted daemon waits for apps that were consulted before; nil for no limit.
        package var consultedReturn: MediaTime?

        package init(off: Set<Protection> = [], takeBackNewerThan: MediaTime? = nil, consultedReturn: MediaTime? = nil)
        {
            (self.off, self.takeBackNewerThan, self.consultedReturn) = (off, takeBackNewerThan, consultedReturn)
        }
    }

    /// Lasts as long as the daemon, so that a hold also applies to the next broadcast. Data threads read it.
    package let curtain: Curtain
    package let regions: StandingRegions
    package let protections: Protections
    let consultation: Monitor<Consultation>
    let captures: CaptureJournal
    /// The number of the last capture. It is based on the time, so that an answer to an earlier daemon does not count
    /// for this one.
    let captureNumber = Monitor(UnixTime.milliseconds * 1000)
    let takeBackNewerThan: MediaTime?
    /// Protections that the last loaded configuration turns off.
    let configuredOff: Monitor<Set<Protection>>
    let audit: AuditLog
    /// Writes the state file; nil if there is none.
    let keeper: PrivacyKeeper?
    /// The contents of the state file when the daemon started.
    private let recordAtStart: PrivacyRecord?
    let effects: any PrivacyEffects
    let clock: any TimeSource
    /// Serializes raises and releases, so that a caller who is told that the curtain is up can rely on it.
    let raising = Monitor(())

    /// Begins in the state in which the previous daemon ended.
    ///
    /// - Parameters:
    ///   - audit: nil for none.
    ///   - stateFile: the state that outlives the daemon; nil for none.
    package init(
        _ policy: Policy, audit: AuditLog? = nil, stateFile: PrivacyStateFile? = nil, clock: any TimeSource,
        effects: any PrivacyEffects
    ) {
        let now = clock.now()
        let epoch = UnixTime.milliseconds - Int(now.milliseconds)
        let finding = stateFile?.find() ?? .nothing
        let restoration = PrivacyRestoration(finding, off: policy.off, epoch: epoch, now: now)
        let curtain = Curtain(heldBy: restoration.holds)
        let regions = StandingRegions(isOn: !restoration.off.contains(.standingRegions), restoration.regions)
        let protections = Protections(off: restoration.off)
        var asked = Consultation()
        // `CaptureStateMonitor` tries to connect at least every 250 ms.
        asked.expect(restoration.consulting, until: policy.consultedReturn.map { now + $0 })
        let consultation = Monitor(asked)
        let configuredOff = Monitor(policy.off)
        if case .record(let record) = finding { recordAtStart = record } else { recordAtStart = nil }
        takeBackNewerThan = policy.takeBackNewerThan
        self.audit = audit ?? AuditLog.none(clock)
        self.clock = clock
        self.effects = effects
        captures = CaptureJournal(at: now)
        keeper = stateFile.map { file in
            PrivacyKeeper(
                clock: clock,
                record: {
                    PrivacyRecord(
                        curtain, regions, protections, configuredOff: configuredOff.withLock { $0 },
                        consulting: consultation.withLock { $0.apps }, epoch: epoch)
                },
                mark: { file.mark() },
                write: { record throws(StateFileFailure) in
                    // An unreadable file that could not be moved must not be overwritten.
                    if case .unreadable(let why, nil) = finding { throw StateFileFailure(sentence: why) }
                    try file.write(record)
                })
        }
        self.curtain = curtain
        self.regions = regions
        self.protections = protections
        self.consultation = consultation
        self.configuredOff = configuredOff
        if let path = stateFile?.path { tell(finding, restoration, path: path) }
    }

    // MARK: State that outlives the daemon

    /// How long an answer may wait for the state file, in milliseconds: a quarter of the time that `UpcastPrivacy`
    /// allows for a call.
    package static let statePatience = PrivacyKeeper.patience.milliseconds

    /// Starts writing the state file, if there is one.
    package func startKeeping() throws(Errno) {
        guard let keeper else { return }
        try keeper.start(onDisk: recordAtStart)
        // The restored state may differ from the file, or the file may not exist yet.
        _ = keeper.note()
    }

    /// Notes a change of the state that outlives the daemon.
    ///
    /// - Returns: a function that tells whether the change is in the state file; it returns nil while that is
    ///   undecided. Nil without a file.
    package func keepState() -> (@Sendable () -> Bool?)? {
        guard let keeper else { return nil }
        let number = keeper.note()
        return { keeper.isWritten(number) }
    }

    /// Called once a second: gives up apps that have not come back, and reports the state of the disks.
    package func tick() {
        giveUpConsulting()
        for news in audit.settle() { effects.report(.auditLog(news)) }
        if let news = keeper?.settle() { effects.report(.stateFile(news)) }
    }

    /// Continues in a new audit file after the old one was moved away. Returns at once; `tick` reports a failure.
    package func reopenAudit() { audit.reopen() }

    /// At the end of the process: gives the audit log's disk a second for the unwritten lines.
    package func stop() {
        for news in audit.settle() { effects.report(.auditLog(news)) }
        let lost = audit.end(within: .seconds(1))
        if lost > 0 { effects.report(.auditLinesLost(lost)) }
        keeper?.stop()
    }

    /// Reports the finding of the start.
    private func tell(_ finding: PrivacyStateFile.Finding, _ restoration: PrivacyRestoration, path: String) {
        switch finding {
        case .nothing: report(.stateFileIsNew(path: path))
        case .record:
            report(
                .stateRestored(
                    path: path, restoration.holds, restoration.regions, consulting: restoration.consulting))
        case .unreadable(let why, let keptAs): report(.stateUnreadable(path: path, why: why, keptAs: keptAs))
        }
        for protection in restoration.turned {
            report(.protectionRestored(protection, isOn: !restoration.off.contains(protection)))
        }
        for protection in restoration.keptOn { report(.protectionKeptOnAtStart(protection)) }
        audit.flush()
    }

    // MARK: Reporting

    /// Adds a fact to the audit log; `audit.flush` has it written. Call it under the lock under which the change is
    /// made, so that the lines are in the order of the changes.
    func note(_ fact: PrivacyFact, by actor: PrivacyActor) {
        let number = effects.broadcastNumber
        for line in fact.auditLines {
            var members = line.members + actor.members
            if !line.isAboutProtection {
                members.append(.init("broadcast", number.map { .integer(Int(clamping: $0)) } ?? .null))
            }
            audit.add(line.event, by: actor, isRegion: line.isRegion, members)
        }
    }

    /// Notes and reports a fact whose order needs no lock.
    func report(_ fact: PrivacyFact, by actor: PrivacyActor = .daemon) {
        note(fact, by: actor)
        effects.report(fact)
    }

    /// All holds, regions and protections, for the status.
    package var status: PrivacyStatus {
        let now = clock.now()
        var status = PrivacyStatus()
        status.regions = regions.all.map(StandingRegionStatus.init)
        status.protections = Protection.allCases.map { protection in
            var entry = ProtectionStatus()
            (entry.name, entry.isOn, entry.isInUse) = (
                protection.rawValue, protections.isOn(protection), isInUse(protection)
            )
            return entry
        }
        status.auditLost = audit.lost
        let holds = curtain.all
        status.curtain.isUp = !holds.isEmpty
        status.curtain.holders = holds.map { hold in
            var holder = CurtainHolderStatus()
            holder.holder = "\(hold.holder)"
            holder.user = hold.holder.user.map(Int.init)
            holder.reason =
                hold.holder == .consulting
                ? "waits for the answer of \(waitingFor.joined(separator: ", "))" : hold.reason
            holder.heldMilliseconds = Int((now - hold.since).milliseconds)
            return holder
        }
        return status
    }
}

extension StandingRegionStatus {
    fileprivate init(_ region: StandingRegion) {
        self.init()
        (holder, name, unit) = ("\(region.holder)", region.name, region.unit.rawValue)
        user = region.holder.user.map(Int.init)
        (x, y) = (region.edges.left, region.edges.top)
        (width, height) = (region.edges.right - region.edges.left, region.edges.bottom - region.edges.top)
    }
}
