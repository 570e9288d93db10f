internal import Buffering
internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
package import Privacy

/// The switches of what keeps something from viewers. Any thread.
extension BroadcastHost {
    /// Whether somebody relies on it at this moment. An app that is consulted relies on being told, and on the curtain
    /// that waits for its answer.
    func isHeld(_ protection: Protection) -> Bool {
        switch protection {
        case .secureRegions: current?.inlet.hasRegions ?? false
        case .standingRegions: !standing.all.isEmpty
        case .curtain: curtain.stamp.isUp || isAnybodyConsulted
        case .takeBack: curtain.stamp.isUp
        case .automaticCurtain: curtain.all.contains { $0.holder.isAutomatic }
        case .captureState: isAnybodyConsulted
        }
    }

    private var isAnybodyConsulted: Bool { !consultation.withLock { $0.apps.isEmpty } }

    /// Whether apps are told what is captured.
    package var tellsCaptureState: Bool { protections.isOn(.captureState) }

    /// Turns one on or off until the daemon ends, or the configuration says otherwise.
    ///
    /// - Parameter force: also while somebody relies on it; who holds the curtain then does no longer.
    /// - Returns: whether that has changed anything.
    @discardableResult
    package func turn(
        _ protection: Protection, on isOn: Bool, force: Bool = false, by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) -> Bool {
        let outcome = raising.withLock { _ -> Bool? in
            guard isOn || force || !protections.isOn(protection) || !isHeld(protection) else {
                note("protection_kept_on", protection, actor, force)
                return nil
            }
            let isNews = protections.set(protection, on: isOn)
            if protection == .standingRegions, isNews { turnRegions(on: isOn) }
            if isNews { note(isOn ? "protection_on" : "protection_off", protection, actor, force) }
            return isNews
        }
        audit.flush()
        guard let isNews = outcome else {
            throw CommandRefusal(
                code: .isHeld,
                sentence: "\(protection.rawValue) hides something at this moment, or an app is consulted that relies "
                    + "on it, and stays on; turn it off when nobody relies on it any more (upcastctl status), or "
                    + "with force")
        }
        guard isNews else { return false }
        logger.log(
            level: isOn ? .notice : .warning, "protection turned \(isOn ? "on" : "off")",
            metadata: ["protection": "\(protection.rawValue)", "forced": "\(force)"])
        switch protection {
        case .curtain where !isOn:
            lowerCurtain(by: actor, reason: "the curtain was turned off") { _ in true }
        case .automaticCurtain where !isOn:
            lowerCurtain(by: actor, reason: "the automatic curtain was turned off") { $0.isAutomatic }
        default: break
        }
        return true
    }

    func note(_ event: String, _ protection: Protection, _ actor: PrivacyActor, _ isForced: Bool) {
        audit.add(
            event, by: actor,
            [.init("protection", .string(protection.rawValue)), .init("forced", .bool(isForced))]
                + Self.members(actor))
    }
}
