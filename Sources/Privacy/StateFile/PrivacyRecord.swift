package import MediaCore
/// The state that outlives the daemon: holds of the curtain, hidden regions, and switches that differ from the
/// configuration.
///
/// A pure value, stored in `privacy.state_file`. A new member needs a bound, and an entry in the codec
/// (`PrivacyRecord+JSON.swift`).
package struct PrivacyRecord: Equatable, Sendable {
    package struct Hold: Equatable, Sendable {
        package var holder: PrivacyHolder
        package var reason: String
        /// Milliseconds of Unix time, because the monotonic clock ends with the machine.
        package var since: Int

        package init(holder: PrivacyHolder, reason: String, since: Int) {
            (self.holder, self.reason, self.since) = (holder, reason, since)
        }
    }

    package var holds: [Hold] = []
    package var regions: [StandingRegion] = []
    /// Protections whose switch differs from the configuration.
    package var switches: [Protection: Bool] = [:]
    /// Consulted apps, for whose return the next daemon waits.
    package var consulting: [PrivacyHolder] = []

    package init() {}

    /// The current state that must outlive the daemon.
    ///
    /// - Parameter epoch: milliseconds of Unix time at zero of the monotonic clock.
    init(
        _ curtain: Curtain, _ standing: StandingRegions, _ protections: Protections, configuredOff: Set<Protection>,
        consulting: [PrivacyHolder] = [], epoch: Int
    ) {
        self.consulting = consulting
        holds = curtain.all.filter(\.holder.outlivesTheDaemon).map { hold in
            Hold(holder: hold.holder, reason: hold.reason, since: epoch + Int(hold.since.milliseconds))
        }
        regions = standing.all
        for protection in Protection.allCases where protections.isOn(protection) == configuredOff.contains(protection) {
            switches[protection] = protections.isOn(protection)
        }
    }

    /// More than can exist at once: `Curtain.capacity` apps, and the few other holds that outlive the daemon.
    package static let maxHolds = 80

    /// The maximum size of a reason, in UTF-8.
    package static let maxReasonBytes = 200

    /// False if the record could not be the result of commands.
    package var isWithinBounds: Bool {
        holds.count <= Self.maxHolds && regions.count <= StandingRegions.capacity
            && consulting.count <= Consultation.expectedCapacity
    }
}

extension PrivacyHolder {
    /// A state file could not be read, so it is unknown what was hidden. An operator can release this hold by force.
    package static let stateUnreadable = PrivacyHolder(.daemon, "state_unreadable")

    /// Whether the hold continues in the next daemon. The client's hold ends with its connection. The daemon's own
    /// holds are about a broadcast, which ends with the daemon.
    package var outlivesTheDaemon: Bool {
        switch kind {
        case .app, .operator: true
        case .client: false
        case .daemon: self == Curtain.tooMany || self == .stateUnreadable
        }
    }
}
