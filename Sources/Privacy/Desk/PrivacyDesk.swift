package import ControlProtocol
package import LinuxSystem
package import MediaCore

/// Where everything that keeps something from viewers is asked for: raises and lowers the curtain, hides and shows
/// regions, turns protections on and off, asks captured apps, and keeps what outlives the daemon.
///
/// Any thread. Each verb has done its work when it returns, writes the audit log, and reports a `PrivacyFact`. The desk
/// knows no broadcast: what has to happen to one is asked of `PrivacyEffects`.
package final class PrivacyDesk: Sendable {
    /// What the configuration says.
    package struct Policy: Sendable {
        /// Protections that are off from the start.
        package var off: Set<Protection>
        /// With the curtain, only packets newer than this are taken back; nil for all.
        package var takeBackNewerThan: MediaTime?
        /// How long a restarted daemon waits for apps that were consulted before; nil for without end.
        package var consultedReturn: MediaTime?

        package init(off: Set<Protection> = [], takeBackNewerThan: MediaTime? = nil, consultedReturn: MediaTime? = nil)
        {
            (self.off, self.takeBackNewerThan, self.consultedReturn) = (off, takeBackNewerThan, consultedReturn)
        }
    }

    /// For the life of the daemon: who has raised it holds it for the next broadcast, too. Data threads read it.
    package let curtain: Curtain
    package let regions: StandingRegions
    package let protections: Protections
    let consultation: Monitor<Consultation>
    let captures: CaptureJournal
    /// The last capture's. It begins with the time, so that an answer to a daemon that has ended is not taken for one
    /// to this.
    let captureNumber = Monitor(UnixTime.milliseconds * 1000)
    let takeBackNewerThan: MediaTime?
    /// As loaded last.
    let configuredOff: Monitor<Set<Protection>>
    let audit: AuditLog
    /// Writes the state file; nil for none.
    let keeper: PrivacyKeeper?
    /// What the state file held when the daemon started.
    private let recordAtStart: PrivacyRecord?
    let effects: any PrivacyEffects
    let clock: any TimeSource
    /// One at a time: whoever is told that the curtain is up can rely on it.
    let raising = Monitor(())

    /// Begins as the daemon before ended.
    ///
    /// - Parameters:
    ///   - audit: nil for none.
    ///   - stateFile: what outlives the daemon; nil for nothing.
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
                    // What could not be read, and could not be moved either, is not overwritten.
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

    // MARK: What outlives the daemon

    /// How long an answer may wait for the state file, in milliseconds: a quarter of what `UpcastPrivacy` allows for
    /// a call.
    package static let statePatience = PrivacyKeeper.patience.milliseconds

    /// Begins to write the state file, if there is one.
    package func startKeeping() throws(Errno) {
        guard let keeper else { return }
        try keeper.start(onDisk: recordAtStart)
        // What was restored may not be what the file holds, or there is no file yet.
        _ = keeper.note()
    }

    /// Something that outlives the daemon has changed.
    ///
    /// - Returns: says whether the change is in the state file; nil while that may still come. Nil without a file.
    package func keepState() -> (@Sendable () -> Bool?)? {
        guard let keeper else { return nil }
        let number = keeper.note()
        return { keeper.isWritten(number) }
    }

    /// Once a second: gives up apps that have not come back, and says how the disks do.
    package func tick() {
        giveUpConsulting()
        for news in audit.settle() { effects.report(.auditLog(news)) }
        if let news = keeper?.settle() { effects.report(.stateFile(news)) }
    }

    /// Goes on in a new audit file where the old one was moved away. Does not wait for it: where it fails, `tick`
    /// reports so.
    package func reopenAudit() { audit.reopen() }

    /// At the end of the process: the audit log's disk gets a second for what has not been written.
    package func stop() {
        for news in audit.settle() { effects.report(.auditLog(news)) }
        let lost = audit.end(within: .seconds(1))
        if lost > 0 { effects.report(.auditLinesLost(lost)) }
        keeper?.stop()
    }

    /// At the start: what was found.
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

    // MARK: Telling

    /// Adds to the audit log; `audit.flush` has it written. Under the lock that the change is made under, so that the
    /// lines are in the order of what they tell.
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

    /// Where no lock is needed for the order.
    func report(_ fact: PrivacyFact, by actor: PrivacyActor = .daemon) {
        note(fact, by: actor)
        effects.report(fact)
    }

    /// Who holds what, for the status.
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
