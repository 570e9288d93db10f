internal import Buffering
internal import Configuration
package import ControlProtocol
internal import Ingest
internal import LinuxSystem
internal import Logging
package import MediaCore
package import Privacy
internal import Publishing

/// The curtain as those see it who raise and lower it. Any thread; nothing here waits for a data thread.
extension BroadcastHost {
    /// What had left when the curtain was raised.
    package struct CurtainRaised: Sendable {
        package var videoPackets = 0
        package var audioPackets = 0
        /// Presentation time of the last packet that went to each destination, in milliseconds; nil for none.
        package var lastPTS: [(destination: String, milliseconds: Int?)] = []
        /// Packets from before, up to this time in milliseconds, are not taken back, and still go out; nil for none.
        package var keptUntil: Int?

        package var members: [JSONValue.Member] {
            [
                .init("taken_back_video_packets", .integer(videoPackets)),
                .init("taken_back_audio_packets", .integer(audioPackets)),
                .init(
                    "last_pts_ms",
                    .object(lastPTS.map { name, time in .init(name, time.map { .integer($0) } ?? .null) })),
                .init("kept_until_ms", keptUntil.map { .integer($0) } ?? .null),
            ]
        }

        fileprivate mutating func note(
            _ destinations: [(name: String, lastPTS: MediaTime?)], kept: MediaTime?
        ) {
            lastPTS = destinations.map { ($0.name, $0.lastPTS.map { Int($0.milliseconds) }) }
            guard let kept, kept >= .zero,
                destinations.contains(where: { $0.lastPTS.map { $0 < kept } ?? true })
            else {
                return
            }
            keptUntil = Int(kept.milliseconds)
        }
    }

    /// Once it returns, nothing from before goes out: no picture in hand, no packet, no byte that the kernel still has;
    /// but what `privacy.take_back_newer_than_ms` leaves, or all that was encoded where `take_back` is off.
    ///
    /// - Throws: where the curtain is turned off; then nothing is hidden.
    @discardableResult
    package func raiseCurtain(
        _ holder: PrivacyHolder, reason: String, by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) -> CurtainRaised {
        let (result, change) = raising.withLock { _ -> (CurtainRaised, Curtain.Change?) in
            // Asked where nobody can turn it off meanwhile.
            guard protections.isOn(.curtain) else { return (CurtainRaised(), nil) }
            let change = curtain.raise(holder, reason: reason, at: clock.now())
            let result = takeBack(after: change, for: holder)
            note(raise: change, holder, reason, actor, result)
            return (result, change)
        }
        audit.flush()
        guard let change else {
            throw CommandRefusal(
                code: .turnedOff,
                sentence: "the curtain is turned off (privacy.curtain): nothing is hidden; "
                    + "turn it on with upcastctl protection on curtain")
        }
        // Its own hold is there.
        if holder.kind == .app { answerConsultation(.raisedCurtain, by: actor) { $0 == holder } }
        guard change != .none else { return result }
        server.curtainChanged()
        notePhase()
        logger.log(
            level: Self.level(of: [holder]),
            change == .raised ? "curtain raised" : "curtain held by one more",
            metadata: [
                "holder": "\(holder)", "why": "\(reason)",
                "taken_back": "\(result.videoPackets) pictures, \(result.audioPackets) packets of sound",
            ])
        return result
    }

    /// Of the running broadcast, where the curtain has just gone up; otherwise says what had gone out.
    private func takeBack(after change: Curtain.Change, for holder: PrivacyHolder) -> CurtainRaised {
        var result = CurtainRaised()
        guard let broadcast = current else { return result }
        guard change == .raised, holder != .start else {
            result.note(broadcast.destinations.snapshots.map { ($0.name, $0.lastPTS) }, kept: broadcast.lastKeptPTS)
            return result
        }
        let least = configuration.privacy.takeBackNewerThan
        let age: MediaTime? = least == .zero ? nil : least
        // Nothing is newer than the newest.
        let (taken, lastPTS) = broadcast.takeBack(newerThan: protections.isOn(.takeBack) ? age : .zero)
        (result.videoPackets, result.audioPackets) = (taken.videoPackets, taken.audioPackets)
        result.note(lastPTS, kept: taken.lastKeptPTS)
        return result
    }

    private func note(
        raise change: Curtain.Change, _ holder: PrivacyHolder, _ reason: String, _ actor: PrivacyActor,
        _ result: CurtainRaised
    ) {
        guard change != .none else { return }
        var members: [JSONValue.Member] = [.init("reason", .string(reason))]
        if change == .raised { members += result.members }
        let hasRoom = curtain.isHeld(by: holder)
        if !hasRoom { members.append(.init("for", .string("\(holder)"))) }
        note(
            change == .raised ? "curtain_raised" : "curtain_held", hasRoom ? holder : Curtain.tooMany, actor, members)
    }

    /// The daemon's own raising; where that is turned off, nothing happens.
    func raiseCurtainByItself(_ holder: PrivacyHolder, reason: String) {
        guard protections.isOn(.automaticCurtain) else { return }
        // Where the curtain itself is off, the log has said so when it was turned off.
        _ = try? raiseCurtain(holder, reason: reason)
    }

    package var isCurtainUp: Bool { curtain.stamp.isUp }

    /// Lets go for those whom `isMeant` is true of; it falls with the last. Returns whether there was one.
    ///
    /// - Parameter opening: the broadcast time from which on sound may be heard; nil for when that is noticed.
    @discardableResult
    package func lowerCurtain(
        by actor: PrivacyActor = .daemon, reason: String, opening: MediaTime? = nil,
        where isMeant: (PrivacyHolder) -> Bool
    ) -> Bool {
        let (before, change) = raising.withLock { _ in
            let before = curtain.all.filter { isMeant($0.holder) }
            let change = curtain.release(opening: opening) { holder in before.contains { $0.holder == holder } }
            // Forced down, or turned off: then nobody is waited for.
            if before.contains(where: { $0.holder == .consulting }) { consultation.withLock { $0.overrule() } }
            for hold in before {
                let isLast = change == .lowered && hold == before.last
                note(
                    isLast ? "curtain_lowered" : "curtain_released", hold.holder, actor,
                    [.init("reason", .string(reason))])
            }
            return (before, change)
        }
        audit.flush()
        guard change != .none else { return false }
        server.curtainChanged()
        notePhase()
        let (holders, left) = (before.map(\.holder), curtain.all.map(\.holder.description))
        var metadata: Logger.Metadata = [
            "holder": "\(holders.map(\.description).joined(separator: ", "))", "why": "\(reason)",
        ]
        if change == .released { metadata["now"] = "it stays up for \(left.joined(separator: ", "))" }
        logger.log(
            level: Self.level(of: holders),
            change == .lowered ? "curtain lowered" : "curtain let go by one",
            metadata: metadata)
        return true
    }

    /// Lets go for one holder of the daemon's or the client's.
    func lowerCurtain(_ holder: PrivacyHolder, reason: String) {
        lowerCurtain(reason: reason) { $0 == holder }
    }

    /// That nothing is shown before there is something to show is every broadcast's way.
    private static func level(of holders: [PrivacyHolder]) -> Logger.Level {
        holders.allSatisfy { $0 == .start || $0 == .consulting } ? .info : .notice
    }

    /// A picture has begun that may be shown, the first or the first after some whose regions were not understood.
    func pictureAllowed(at time: MediaTime) {
        lowerCurtain(reason: "a picture came that may be shown", opening: time) { $0.awaitsAPicture }
    }

    /// Goes on in a new audit file where the old one was moved away. Does not wait for it: where it fails,
    /// `settleAudit` says so.
    package func reopenAudit() { audit.reopen() }

    /// Adds to the audit log; `audit.flush` has it written.
    func note(
        _ event: String, _ holder: PrivacyHolder, _ actor: PrivacyActor, isRegion: Bool = false,
        _ members: [JSONValue.Member]
    ) {
        var all: [JSONValue.Member] = [.init("holder", .string("\(holder)"))]
        if let user = holder.user { all.append(.init("holder_user", .integer(Int(user)))) }
        audit.add(
            event, by: actor, isRegion: isRegion,
            all + Self.members(actor) + members + [.init("broadcast", broadcastNumber)])
    }

    static func members(_ actor: PrivacyActor) -> [JSONValue.Member] {
        if actor.showsToken { return [.init("by", .string("token"))] }
        // Nobody but the daemon.
        guard actor.user != nil || actor.process != nil else { return [] }
        let user = actor.user.map { JSONValue.Member("by_user", .integer(Int($0))) } ?? .init("by", .string("unknown"))
        let process: [JSONValue.Member] = actor.process.map { [.init("by_process", .integer(Int($0)))] } ?? []
        return [user] + process
    }

    /// Which broadcast is running.
    private var broadcastNumber: JSONValue {
        state.withLock { $0.running.map { .integer(Int(clamping: $0)) } ?? .null }
    }

    /// Once a second: what the audit log lacks.
    func settleAudit() {
        for news in audit.settle() {
            switch news {
            case .failing(let why):
                logger.error(
                    "audit log not written",
                    metadata: [
                        "why": "\(why)",
                        "now": "lines are lost, and counted (privacy.audit_lost in the status)",
                    ])
            case .waiting(let lines):
                logger.error(
                    "audit log waits for its disk",
                    metadata: [
                        "lines": "\(lines)",
                        "now": """
                        up to \(AuditQueue.capacity) lines are kept; further ones are lost, and counted \
                        (privacy.audit_lost in the status)
                        """,
                    ])
            case .writing(let lost):
                logger.notice("audit log written again", metadata: ["lost": "\(lost)"])
            case .notReopened(let why):
                logger.error(
                    "part of the configuration was not applied",
                    metadata: ["why": "\(why)", "now": "the audit log goes on in the file that is open"])
            case .flooded(let who, let lines):
                logger.warning("audit lines left out", metadata: ["by": "\(who)", "lines": "\(lines)"])
            }
        }
    }

    /// At the end of the process: the disk gets a second for what has not been written.
    func endAudit() {
        let lines = audit.end(within: .seconds(1))
        guard lines > 0 else { return }
        logger.error(
            "audit log not written",
            metadata: ["why": "its disk hangs", "lost": "\(lines)", "now": "the process ends without these lines"])
    }

    var privacyStatus: PrivacyStatus {
        let now = clock.now()
        var status = PrivacyStatus()
        status.regions = standing.all.map(StandingRegionStatus.init)
        status.protections = Protection.allCases.map { protection in
            var entry = ProtectionStatus()
            (entry.name, entry.isOn, entry.isHeld) = (
                protection.rawValue, protections.isOn(protection), isHeld(protection)
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
