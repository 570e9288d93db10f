internal import MediaCore
/// What outlives the daemon: who holds the curtain up, which regions are hidden, and which switches are not as the
/// configuration says.
///
/// A pure value. Pipeline writes it to `privacy.state_file` and reads it from there. A member that is added here gets
/// a bound, and an entry in the codec (`PrivacyRecord+JSON.swift`).
package struct PrivacyRecord: Equatable, Sendable {
    package struct Hold: Equatable, Sendable {
        package var holder: PrivacyHolder
        package var reason: String
        /// Milliseconds of Unix time: the monotonic clock ends with the machine.
        package var since: Int

        package init(holder: PrivacyHolder, reason: String, since: Int) {
            (self.holder, self.reason, self.since) = (holder, reason, since)
        }
    }

    package var holds: [Hold] = []
    package var regions: [StandingRegion] = []
    /// Protections that are on, or off, although the configuration says the opposite.
    package var switches: [Protection: Bool] = [:]
    /// Apps that are consulted: the next daemon waits for them to come back.
    package var consulting: [PrivacyHolder] = []

    package init() {}

    /// What is to outlive the daemon, as it is now.
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

    /// More than can be held at once: `Curtain.capacity` apps, and the few others that outlive the daemon.
    package static let maxHolds = 80

    /// Of what somebody says why, in UTF-8.
    package static let maxReasonBytes = 200

    /// What no command could have made is no record.
    package var isWithinBounds: Bool {
        holds.count <= Self.maxHolds && regions.count <= StandingRegions.capacity
            && consulting.count <= Consultation.expectedCapacity
    }
}

extension PrivacyHolder {
    /// A state file could not be read: nobody knows what was hidden. An operator lets go by force.
    package static let stateUnreadable = PrivacyHolder(.daemon, "state_unreadable")

    /// Holds the curtain up in the next daemon, too. The client's hold ends with its connection, and what the daemon
    /// raised by itself is about a broadcast that ends with it.
    package var outlivesTheDaemon: Bool {
        switch kind {
        case .app, .operator: true
        case .client: false
        case .daemon: self == Curtain.tooMany || self == .stateUnreadable
        }
    }
}
