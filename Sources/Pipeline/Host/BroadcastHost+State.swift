internal import Configuration
internal import ControlProtocol
package import LinuxSystem
internal import Logging
internal import MediaCore
internal import Privacy

/// What outlives the daemon. Any thread.
extension BroadcastHost {
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

    /// Once a second: whether the state file is written.
    func settleState() {
        switch keeper?.settle() {
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
        case nil: break
        }
    }

    /// What outlives the daemon, as it is now.
    static func record(
        _ curtain: Curtain, _ standing: StandingRegions, _ protections: Protections,
        _ configuration: PrivacyConfiguration, consulting: [PrivacyHolder] = [], epoch: Int
    ) -> PrivacyRecord {
        var record = PrivacyRecord()
        record.consulting = consulting
        record.holds = curtain.all.filter(\.holder.outlivesTheDaemon).map { hold in
            PrivacyRecord.Hold(
                holder: hold.holder, reason: hold.reason, since: epoch + Int(hold.since.milliseconds))
        }
        record.regions = standing.all
        for protection in Protection.allCases where protections.isOn(protection) != configuration.has(protection) {
            record.switches[protection] = protections.isOn(protection)
        }
        return record
    }

    /// At the start: what was found.
    func tell(_ finding: PrivacyStateFile.Finding, _ restoration: PrivacyRestoration, path: String?) {
        guard let path else { return }
        let (holds, regions) = (restoration.holds, restoration.regions)
        switch finding {
        case .nothing:
            logger.notice("state file is new", metadata: ["file": "\(path)"])
        case .record:
            logger.notice(
                "state restored",
                metadata: [
                    "file": "\(path)", "holders": "\(holds.map(\.holder.description).joined(separator: ", "))",
                    "regions": "\(regions.count)",
                    "consulted": "\(restoration.consulting.map(\.description).joined(separator: ", "))",
                ])
            for hold in holds {
                note("curtain_restored", hold.holder, .daemon, [.init("reason", .string(hold.reason))])
            }
            for region in regions {
                note("region_restored", region.holder, .daemon, isRegion: true, [.init("region", .string(region.name))])
            }
        case .unreadable(let why, let keptAs):
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
            note("curtain_raised", .stateUnreadable, .daemon, [.init("reason", .string(why))])
        }
        for protection in restoration.turned {
            logger.warning(
                "protection is not as configured",
                metadata: [
                    "protection": "\(protection.rawValue)", "on": "\(!restoration.off.contains(protection))",
                    "why": "a command turned it before the restart; a reload brings it to what the file says",
                ])
        }
        for protection in restoration.keptOn {
            logger.warning(
                "protection kept on",
                metadata: [
                    "protection": "\(protection.rawValue)",
                    "why": "the configuration turns it off, and somebody relied on it before the restart",
                ])
            note("protection_kept_on", protection, .daemon, false)
        }
        audit.flush()
    }
}
