package import Configuration
package import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// What a reload did.
package struct ReloadReport: Equatable, Sendable {
    /// What is in force now, such as "destination backup added".
    package var applied: [String] = []
    /// Keys whose new value waits for a restart.
    package var needRestart: [String] = []
    /// What could not be done, each a sentence.
    package var failed: [String] = []

    package var isEmpty: Bool { applied.isEmpty && needRestart.isEmpty && failed.isEmpty }
}

/// Another configuration while the daemon runs: destinations come and go at once, the rest waits for a restart.
///
/// Only differences between the old and the new file count: destinations that were added or removed by command stay as
/// they are. Protections are set to what the file says, each time.
package final class ConfigurationReloader: Sendable {
    private struct State {
        /// As it was loaded last.
        var configuration: Configuration
        /// Destinations whose predecessor of the same name is still ending: servers refuse two publishers of one
        /// stream.
        var waiting: [DestinationConfiguration] = []
        var giveUpWaiting = MediaTime.zero
    }

    /// A predecessor that does not end has a disk that hangs.
    private static let longestLeave = MediaTime.seconds(5)

    private let state: Monitor<State>
    /// As the daemon started with.
    private let running: Configuration
    private let destinations: DestinationRoster
    private let operating: OperatorCommands
    private let privacy: PrivacyDesk
    private let current: CurrentBroadcast
    private let clock: any TimeSource

    init(
        _ configuration: Configuration, _ destinations: DestinationRoster, _ operating: OperatorCommands,
        _ privacy: PrivacyDesk, _ current: CurrentBroadcast, clock: any TimeSource
    ) {
        (running, self.destinations, self.operating) = (configuration, destinations, operating)
        (self.privacy, self.current, self.clock) = (privacy, current, clock)
        state = Monitor(State(configuration: configuration))
    }

    /// As it was loaded last.
    private var loaded: Configuration { state.withLock { $0.configuration } }

    /// The configuration that runs: that of the start, with what commands and reloads have changed.
    package var inForce: Configuration {
        var inForce = destinations.configuration
        inForce.video.bitrate = operating.configuredBitrate
        inForce.log.level = loaded.log.level
        return inForce
    }

    /// Main thread: brings destinations to what `new` says. What takes time goes on in `goOn`.
    ///
    /// - Throws: a sentence where the destinations do not fit; then nothing has changed.
    package func reload(_ new: Configuration) throws(CommandRefusal) -> ReloadReport {
        let changes = new.changes(since: loaded)
        try requireRoom(for: changes)
        state.withLock { reload in
            reload.configuration = new
            let obsolete = changes.removed + (changes.added + changes.changed).map(\.name)
            reload.waiting.removeAll { obsolete.contains($0.name) }
        }
        var report = ReloadReport()
        // The configuration that runs, not the one that was loaded last: until the restart every reload says so.
        // More than memory was planned for waits for a restart, like the rest.
        let isLive = new.video.bitrate <= running.video.bitrate
        report.needRestart = new.changes(since: running).keys.filter { $0 != "video.bitrate_kbps" || !isLive }
        if changes.keys.contains("video.bitrate_kbps") {
            // Until the restart a higher one is the one of the start.
            let bitrate = min(new.video.bitrate, running.video.bitrate)
            try operating.configureBitrate(bitrate == running.video.bitrate ? nil : bitrate)
            if isLive { report.applied.append("video.bitrate_kbps \(bitrate / 1000)") }
        }
        report.needRestart.removeAll { Self.protection($0) != nil }
        // Whatever a command has done since: a switch that could not be turned is turned when it can be.
        for protection in Protection.allCases { turn(protection, on: new.privacy.has(protection), &report) }
        privacy.configure(off: new.privacy.protectionsOff)
        _ = privacy.keepState()
        let present = destinations.all.map(\.name)
        for name in changes.removed where present.contains(name) {
            remove(name, from: &report)
            report.applied.append("destination \(name) removed")
        }
        for destination in changes.changed + changes.added where present.contains(destination.name) {
            remove(destination.name, from: &report)
        }
        state.withLock { reload in
            reload.waiting += changes.changed + changes.added
            reload.giveUpWaiting = clock.now() + Self.longestLeave
        }
        return goOn(report)
    }

    /// Some times a second, by the main thread, until `isReloading` is false: adds what waits, once its name is free.
    package func goOn(_ report: ReloadReport = ReloadReport()) -> ReloadReport {
        var report = report
        let leaving = current.broadcast?.destinations.leavingNames ?? []
        let due = state.withLock { reload in
            let isLate = clock.now() >= reload.giveUpWaiting
            let due = reload.waiting.filter { isLate || !leaving.contains($0.name) }
            reload.waiting.removeAll { destination in due.contains { $0.name == destination.name } }
            return due
        }
        for destination in due {
            do throws(CommandRefusal) {
                try destinations.add(destination)
                report.applied.append("destination \(destination.name) added with its new settings")
            } catch {
                report.failed.append(error.sentence)
            }
        }
        return report
    }

    /// Destinations wait for their predecessors to end.
    package var isReloading: Bool { state.withLock { !$0.waiting.isEmpty } }

    private static func protection(_ key: String) -> Protection? {
        key.hasPrefix("privacy.") ? Protection(rawValue: String(key.dropFirst("privacy.".count))) : nil
    }

    private func turn(_ protection: Protection, on isOn: Bool, _ report: inout ReloadReport) {
        do throws(CommandRefusal) {
            guard try privacy.turn(protection, on: isOn) else { return }
            report.applied.append("privacy.\(protection.rawValue) \(isOn)")
        } catch {
            report.failed.append(error.sentence)
        }
    }

    private func remove(_ name: String, from report: inout ReloadReport) {
        do { try destinations.remove(name) } catch { report.failed.append(error.sentence) }
    }

    /// Destinations that were added by command stay, and count.
    private func requireRoom(for changes: ConfigurationChanges) throws(CommandRefusal) {
        var then = destinations.configuration
        let touched = changes.removed + (changes.added + changes.changed).map(\.name)
        then.destinations.removeAll { touched.contains($0.name) }
        then.destinations += changes.changed + changes.added
        guard then.destinations.count <= Configuration.maxDestinations else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "with those that were added by command there would be \(then.destinations.count) "
                    + "destinations, and one daemon serves at most \(Configuration.maxDestinations); remove some first")
        }
        let plan = then.memoryPlan(current.broadcast?.savings.fit)
        guard plan.fits else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "\(plan.excess); take destinations out, or raise memory.cap_bytes and restart")
        }
    }
}
