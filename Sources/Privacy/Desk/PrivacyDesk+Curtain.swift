internal import LinuxSystem
package import ControlProtocol
package import MediaCore

/// Raising and lowering the curtain.
extension PrivacyDesk {
    package var isCurtainUp: Bool { curtain.stamp.isUp }

    /// Once it returns, nothing from before goes out: no picture in hand, no packet, no byte that the kernel still has;
    /// but what `privacy.take_back_newer_than_ms` leaves, or all that was encoded where `take_back` is off.
    ///
    /// - Throws: where the curtain is turned off; then nothing is hidden.
    @discardableResult
    package func raise(
        _ holder: PrivacyHolder, reason: String, by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) -> CurtainReceipt {
        let raised = raising.withLock { _ -> (receipt: CurtainReceipt, fact: PrivacyFact?)? in
            // Asked where nobody can turn it off meanwhile.
            guard protections.isOn(.curtain) else { return nil }
            let change = curtain.raise(holder, reason: reason, at: clock.now())
            let receipt = receipt(after: change, for: holder)
            guard change != .none else { return (receipt, nil) }
            let fact = PrivacyFact.curtainRaised(
                .init(
                    holder: holder, hasRoom: curtain.isHeld(by: holder), isFirst: change == .raised, reason: reason,
                    receipt: receipt))
            note(fact, by: actor)
            return (receipt, fact)
        }
        audit.flush()
        guard let raised else {
            throw CommandRefusal(
                code: .turnedOff,
                sentence: "the curtain is turned off (privacy.curtain): nothing is hidden; "
                    + "turn it on with upcastctl protection on curtain")
        }
        // Its own hold is there.
        if holder.kind == .app { answer(.raisedCurtain, by: actor) { $0 == holder } }
        guard let fact = raised.fact else { return raised.receipt }
        effects.curtainChanged()
        effects.report(fact)
        return raised.receipt
    }

    /// Takes back what has not gone out where the curtain has just gone up; otherwise says what had gone out.
    private func receipt(after change: Curtain.Change, for holder: PrivacyHolder) -> CurtainReceipt {
        guard change == .raised, holder != .start else { return effects.whatWentOut() ?? CurtainReceipt() }
        // Nothing is newer than the newest.
        let age = protections.isOn(.takeBack) ? takeBackNewerThan : .zero
        return effects.takeBack(newerThan: age) ?? CurtainReceipt()
    }

    /// The daemon's own raising; where that is turned off, nothing happens.
    package func raiseByItself(_ holder: PrivacyHolder, reason: String) {
        guard protections.isOn(.automaticCurtain) else { return }
        // Where the curtain itself is off, the log has said so when it was turned off.
        _ = try? raise(holder, reason: reason)
    }

    /// Lets go for those whom `isMeant` is true of; the curtain falls with the last. Returns whether there was one.
    ///
    /// - Parameter opening: the broadcast time from which on sound may be heard; nil for when that is noticed.
    @discardableResult
    package func lower(
        by actor: PrivacyActor = .daemon, reason: String, opening: MediaTime? = nil,
        where isMeant: (PrivacyHolder) -> Bool
    ) -> Bool {
        let fact = raising.withLock { _ -> PrivacyFact? in
            let before = curtain.all.filter { isMeant($0.holder) }
            let change = curtain.release(opening: opening) { holder in before.contains { $0.holder == holder } }
            // Forced down, or turned off: then nobody is waited for.
            if before.contains(where: { $0.holder == .consulting }) { consultation.withLock { $0.overrule() } }
            guard change != .none else { return nil }
            let fact = PrivacyFact.curtainReleased(
                .init(holds: before, left: curtain.all.map(\.holder), isDown: change == .lowered, reason: reason))
            note(fact, by: actor)
            return fact
        }
        audit.flush()
        guard let fact else { return false }
        effects.curtainChanged()
        effects.report(fact)
        return true
    }

    /// Lets go for one holder of the daemon's or the client's.
    package func lower(_ holder: PrivacyHolder, reason: String) { lower(reason: reason) { $0 == holder } }

    /// Runs `body` while nobody raises or lowers the curtain.
    package func whileCurtainStands(_ body: () -> Void) { raising.withLock { _ in body() } }
}
