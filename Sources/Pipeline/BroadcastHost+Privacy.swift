internal import Buffering
internal import ControlProtocol
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

    var privacyStatus: PrivacyStatus {
        let now = clock.now()
        var status = PrivacyStatus()
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
