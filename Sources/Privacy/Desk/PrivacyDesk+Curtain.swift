internal import LinuxSystem
package import ControlProtocol
package import MediaCore

/// Raising and lowering the curtain.
extension PrivacyDesk {
    package var isCurtainUp: Bool { curtain.stamp.isUp }

    /// Raises the curtain, or adds a hold. Once it returns, nothing from before goes out: no picture in progress, no
    /// packet, and no byte in the kernel. Exceptions are packets that `privacy.take_back_newer_than_ms` keeps and, if
    /// `take_back` is off, everything that was already encoded.
    ///
    /// - Throws: if the curtain is turned off. In that case nothing is hidden.
    @discardableResult
    package func raise(
        _ holder: PrivacyHolder, reason: String, by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) -> CurtainReceipt {
        let raised = raising.withLock { _ -> (receipt: CurtainReceipt, fact: PrivacyFact?)? in
            // Checked under the lock, so that nobody can turn it off meanwhile.
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
        // The app's own hold is in effect.
        if holder.kind == .app { answer(.raisedCurtain, by: actor) { $0 == holder } }
        guard let fact = raised.fact else { return raised.receipt }
        effects.curtainChanged()
        effects.report(fact)
        return raised.receipt
    }

    /// Takes back unsent packets if the curtain has just gone up. Otherwise reports what had gone out.
    private func receipt(after change: Curtain.Change, for holder: PrivacyHolder) -> CurtainReceipt {
        guard change == .raised, holder != .start else { return effects.whatWentOut() ?? CurtainReceipt() }
        // With an age of zero nothing is taken back, because nothing is newer than the newest packet.
        let age = protections.isOn(.takeBack) ? takeBackNewerThan : .zero
        return effects.takeBack(newerThan: age) ?? CurtainReceipt()
    }

    /// Adds a hold of the daemon itself. Has no effect if the automatic curtain is turned off.
    package func raiseByItself(_ holder: PrivacyHolder, reason: String) {
        guard protections.isOn(.automaticCurtain) else { return }
        // If the curtain is turned off, the log has reported that at the time.
        _ = try? raise(holder, reason: reason)
    }

    /// Releases the holds of all holders for which `isMeant` is true. The curtain falls with the last hold. Returns
    /// whether there was a hold.
    ///
    /// - Parameter opening: the broadcast time from which on sound may be heard; nil for the time at which the change
    ///   is noticed.
    @discardableResult
    package func lower(
        by actor: PrivacyActor = .daemon, reason: String, opening: MediaTime? = nil,
        where isMeant: (PrivacyHolder) -> Bool
    ) -> Bool {
        let fact = raising.withLock { _ -> PrivacyFact? in
            let before = curtain.all.filter { isMeant($0.holder) }
            let change = curtain.release(opening: opening) { holder in before.contains { $0.holder == holder } }
            // Forced down or turned off, so no app is awaited any more.
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

    /// Releases one hold of the daemon or the client.
    package func lower(_ holder: PrivacyHolder, reason: String) { lower(reason: reason) { $0 == holder } }

    /// Runs `body` while no thread can raise or lower the curtain.
    package func whileCurtainStands(_ body: () -> Void) { raising.withLock { _ in body() } }
}
