internal import LinuxSystem
internal import MediaCore

/// What a daemon begins with: the last one's record, and what the configuration says. Pure.
///
/// A protection that somebody relies on is on, whatever the file says by now: a restart turns nothing off that a reload
/// would not. Only a command that forced it off is kept.
struct PrivacyRestoration {
    var holds: [Curtain.Hold] = []
    var regions: [StandingRegion] = []
    /// Apps that were consulted, and have to come back.
    var consulting: [PrivacyHolder] = []
    var off: Set<Protection>
    /// On because somebody relies on them, though the configuration turns them off.
    var keptOn: [Protection] = []
    /// Not as configured, because a command has turned them.
    var turned: [Protection] = []

    /// - Parameters:
    ///   - configured: protections that the configuration turns off.
    ///   - epoch: milliseconds of Unix time at zero of the monotonic clock.
    ///   - now: of the monotonic clock.
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
                // The clock may have been set back since.
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
    /// Milliseconds that fit a `MediaTime`.
    fileprivate var clamped: Int64 { Swift.min(Swift.max(self, -(1 << 42)), 1 << 42) }
}
