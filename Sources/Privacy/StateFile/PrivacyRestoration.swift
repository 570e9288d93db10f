internal import LinuxSystem
internal import MediaCore

/// The state with which a daemon begins, from the previous daemon's record and the configuration. Pure.
///
/// A protection that is relied on stays on, whatever the configuration says now: a restart turns off nothing that a
/// reload would keep on. Only the effect of a forced command is kept.
struct PrivacyRestoration {
    var holds: [Curtain.Hold] = []
    var regions: [StandingRegion] = []
    /// Consulted apps that must come back.
    var consulting: [PrivacyHolder] = []
    var off: Set<Protection>
    /// Protections that stay on because they are relied on, although the configuration turns them off.
    var keptOn: [Protection] = []
    /// Protections that differ from the configuration because a command has turned them.
    var turned: [Protection] = []

    /// - Parameters:
    ///   - configured: protections that the configuration turns off.
    ///   - epoch: milliseconds of Unix time at zero of the monotonic clock.
    ///   - now: the monotonic clock.
    init(_ finding: PrivacyStateFile.Finding, off configured: Set<Protection>, epoch: Int, now: MediaTime) {
        off = configured
        switch finding {
        case .nothing: break
        case .unreadable:
            holds = [
                Curtain.Hold(
                    holder: .stateUnreadable, reason: "privacy.state_file could not be read", since: now)
            ]
            keep(.curtain, for: nil)
        case .record(let record):
            holds = record.holds.map { hold in
                // The wall clock may have been set back since.
                let since = MediaTime.milliseconds(Int64(clamping: hold.since &- epoch).clamped)
                return Curtain.Hold(holder: hold.holder, reason: hold.reason, since: min(since, now))
            }
            regions = record.regions
            consulting = record.consulting
            for (protection, isOn) in record.switches where isOn == configured.contains(protection) {
                if isOn { off.remove(protection) } else { off.insert(protection) }
                turned.append(protection)
            }
            if !holds.isEmpty || !consulting.isEmpty { keep(.curtain, for: record) }
            if !consulting.isEmpty { keep(.captureState, for: record) }
            if !regions.isEmpty { keep(.standingRegions, for: record) }
        }
    }

    private mutating func keep(_ protection: Protection, for record: PrivacyRecord?) {
        guard off.contains(protection), record?.switches[protection] != false else { return }
        off.remove(protection)
        keptOn.append(protection)
    }
}

extension Int64 {
    /// Limits milliseconds to the range of `MediaTime`.
    fileprivate var clamped: Int64 { Swift.min(Swift.max(self, -(1 << 42)), 1 << 42) }
}
