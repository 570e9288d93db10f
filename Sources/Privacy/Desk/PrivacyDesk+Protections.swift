package import ControlProtocol
internal import LinuxSystem
package import MediaCore

/// The switches of the protections.
extension PrivacyDesk {
    /// Whether the protection is relied on now. A consulted app relies on the capture state, and on the curtain that
    /// waits for its answer.
    package func isInUse(_ protection: Protection) -> Bool {
        switch protection {
        case .secureRegions: effects.clientHidesRegions
        case .standingRegions: !regions.all.isEmpty
        case .curtain: curtain.stamp.isUp || isAnybodyConsulted
        case .takeBack: curtain.stamp.isUp
        case .automaticCurtain: curtain.all.contains { $0.holder.isAutomatic }
        case .captureState: isAnybodyConsulted
        }
    }

    private var isAnybodyConsulted: Bool { !consultation.withLock { $0.apps.isEmpty } }

    /// Turns a protection on or off until the daemon ends or the configuration changes it.
    ///
    /// - Parameter force: also turns it off while it is relied on; its holders then no longer hold the curtain.
    /// - Returns: whether that has changed anything.
    @discardableResult
    package func turn(
        _ protection: Protection, on isOn: Bool, force: Bool = false, by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) -> Bool {
        let turned = PrivacyFact.protectionTurned(protection, isOn: isOn, isForced: force)
        let outcome = raising.withLock { _ -> Bool? in
            guard isOn || force || !protections.isOn(protection) || !isInUse(protection) else {
                note(.protectionKeptOn(protection, isForced: force), by: actor)
                return nil
            }
            let isNews = protections.set(protection, on: isOn)
            if protection == .standingRegions, isNews {
                regions.turn(on: isOn)
                effects.regionsChanged(to: regions.version)
            }
            if isNews { note(turned, by: actor) }
            return isNews
        }
        audit.flush()
        guard let isNews = outcome else {
            throw CommandRefusal(
                code: .isInUse,
                sentence: "\(protection.rawValue) hides something at this moment, or an app is consulted that relies "
                    + "on it, and stays on; turn it off when nobody relies on it any more (upcastctl status), or "
                    + "with force")
        }
        guard isNews else { return false }
        effects.report(turned)
        switch protection {
        case .curtain where !isOn: lower(by: actor, reason: "the curtain was turned off") { _ in true }
        case .automaticCurtain where !isOn:
            lower(by: actor, reason: "the automatic curtain was turned off") { $0.isAutomatic }
        default: break
        }
        return true
    }

    /// Stores the protections that a loaded configuration turns off. Switches that differ from it outlive the daemon.
    package func configure(off: Set<Protection>) { configuredOff.withLock { $0 = off } }
}
