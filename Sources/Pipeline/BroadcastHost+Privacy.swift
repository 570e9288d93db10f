internal import Buffering
package import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
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
    }

    /// Once it returns, nothing from before goes out: no picture in hand, no packet, no byte that the kernel still has.
    @discardableResult
    package func raiseCurtain(_ holder: PrivacyHolder, reason: String) -> CurtainRaised {
        let (result, change) = raising.withLock { _ in
            let change = curtain.raise(holder, reason: reason, at: clock.now())
            var result = CurtainRaised()
            guard let broadcast = current else { return (result, change) }
            if change == .raised {
                let taken = broadcast.takeBack()
                result.videoPackets = taken.videoPackets
                result.audioPackets = taken.audioPackets
            }
            for snapshot in broadcast.destinations.snapshots {
                result.lastPTS.append((snapshot.name, snapshot.lastPTS.map { Int($0.milliseconds) }))
            }
            return (result, change)
        }
        guard change != .none else { return result }
        notePhase()
        logger.notice(
            change == .raised ? "curtain raised" : "curtain held by one more",
            metadata: [
                "holder": "\(holder)", "why": "\(reason)",
                "taken_back": "\(result.videoPackets) pictures, \(result.audioPackets) packets of sound",
            ])
        return result
    }

    package var isCurtainUp: Bool { curtain.stamp.isUp }

    /// Lets go for one holder; it falls with the last.
    package func lowerCurtain(_ holder: PrivacyHolder) { note(curtain.lower(holder), of: "\(holder)") }

    /// Lets go for all, whoever holds it.
    package func forceCurtainDown() { note(curtain.release { _ in true }, of: "everybody, by an operator's force") }

    private func note(_ change: Curtain.Change, of holder: String) {
        guard change != .none else { return }
        notePhase()
        let holders = curtain.all.map(\.holder.description).joined(separator: ", ")
        logger.notice(
            change == .lowered ? "curtain lowered" : "curtain let go by one",
            metadata: change == .lowered
                ? ["holder": "\(holder)"] : ["holder": "\(holder)", "now": "it stays up for \(holders)"])
    }

    /// Keeps a rectangle of the upright picture hidden, in this broadcast and those that follow, until it is removed.
    /// When it returns, no picture is encoded any more that shows it.
    package func hideRegion(_ region: StandingRegion) throws(CommandRefusal) {
        let change = standing.set(region)
        guard change != .full else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "there are \(StandingRegions.capacity) regions already; this one is not hidden: join some, "
                    + "or raise the curtain")
        }
        guard change != .none else { return }
        current?.slot.wake()
        logger.notice(
            change == .added ? "region hidden" : "region moved",
            metadata: ["holder": "\(region.holder)", "region": "\(region.name)"])
    }

    /// No longer hides one, or all of a holder's where `name` is nil.
    package func showRegions(of holder: PrivacyHolder, _ name: String?) throws(CommandRefusal) {
        guard standing.remove(holder, name) > 0 else {
            throw CommandRefusal(
                code: .notFound, sentence: "\(holder) has no region" + (name.map { " called \"\($0)\"" } ?? ""))
        }
        current?.slot.wake()
        logger.notice("region shown again", metadata: ["holder": "\(holder)", "region": "\(name ?? "all")"])
    }

    /// Whether anything is being captured; true until the last byte of it has gone out.
    package var captureState: CaptureStateReport {
        let now = clock.now()
        var report = CaptureStateReport()
        let (broadcast, freeSince) = state.withLock { ($0.broadcast, $0.freeSince) }
        guard let broadcast else {
            report.milliseconds = Int((now - freeSince).milliseconds)
            return report
        }
        let client = broadcast.clientStatus(at: now)
        report.isCaptured = true
        report.kind = client.kind
        report.client = client.name
        report.milliseconds = client.connectedMilliseconds
        return report
    }

    var privacyStatus: PrivacyStatus {
        let now = clock.now()
        var status = PrivacyStatus()
        status.regions = standing.all.map { region in
            var entry = StandingRegionStatus()
            (entry.holder, entry.name, entry.unit) = ("\(region.holder)", region.name, region.unit.rawValue)
            (entry.x, entry.y) = (region.edges.left, region.edges.top)
            (entry.width, entry.height) = (
                region.edges.right - region.edges.left, region.edges.bottom - region.edges.top
            )
            return entry
        }
        let holds = curtain.all
        status.curtain.isUp = !holds.isEmpty
        status.curtain.holders = holds.map { hold in
            var holder = CurtainHolderStatus()
            holder.holder = "\(hold.holder)"
            holder.reason = hold.reason
            holder.heldMilliseconds = Int((now - hold.since).milliseconds)
            return holder
        }
        return status
    }
}
