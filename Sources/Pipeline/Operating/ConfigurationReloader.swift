package import Configuration
package import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// The result of a reload.
package struct ReloadReport: Equatable, Sendable {
    /// Changes that are in force now, such as "destination backup removed".
    package var applied: [String] = []
    /// Keys whose new values the next broadcast begins with.
    package var nextBroadcast: [String] = []
    /// Keys whose new values need a restart.
    package var needRestart: [String] = []
    /// A sentence for each change that failed.
    package var failed: [String] = []

    package var isEmpty: Bool { applied.isEmpty && nextBroadcast.isEmpty && needRestart.isEmpty && failed.isEmpty }
}

/// Applies another configuration while the daemon runs: `ReloadScope` says when each key takes effect.
///
/// Only differences between the old and the new file count. Destinations that were added or removed by command stay as
/// they are. Each reload sets all protections to the file's values.
package final class ConfigurationReloader: Sendable {
    private struct State {
        /// The configuration that was loaded last.
        var configuration: Configuration
        /// Destinations that wait until the earlier one of the same name has closed, because servers refuse two
        /// publishers of one stream.
        var waiting: [DestinationConfiguration] = []
        var giveUpWaiting = MediaTime.zero
    }

    /// The longest wait for an earlier destination to close. One that takes longer has a hanging disk.
    private static let longestLeave = MediaTime.seconds(5)

    private let state: Monitor<State>
    private let destinations: DestinationRoster
    private let operating: OperatorCommands
    private let privacy: PrivacyDesk
    private let current: CurrentBroadcast
    private let clock: any TimeSource

    init(
        _ configuration: Configuration, _ destinations: DestinationRoster, _ operating: OperatorCommands,
        _ privacy: PrivacyDesk, _ current: CurrentBroadcast, clock: any TimeSource
    ) {
        (self.destinations, self.operating) = (destinations, operating)
        (self.privacy, self.current, self.clock) = (privacy, current, clock)
        state = Monitor(State(configuration: configuration))
    }

    /// The configuration that was loaded last.
    private var loaded: Configuration { state.withLock { $0.configuration } }

    /// The configuration in force, with the changes of commands and reloads.
    package var inForce: Configuration {
        var inForce = destinations.configuration
        inForce.video.bitrate = operating.configuredBitrate
        inForce.log.level = loaded.log.level
        return inForce
    }

    /// Main thread: applies `new`. `goOn` finishes the part that takes time.
    ///
    /// - Throws: a sentence if the destinations do not fit; then nothing has changed.
    package func reload(_ new: Configuration) throws(CommandRefusal) -> ReloadReport {
        let changes = new.changes(since: loaded)
        let running = destinations.configuration
        try requireRoom(for: changes, webhooks: new.webhooks, in: running)
        try requireRoom(for: changes, webhooks: new.webhooks, in: running.taking(new, isLive: false))
        destinations.note(new.webhooks)
        state.withLock { reload in
            reload.configuration = new
            let obsolete = changes.removed + (changes.added + changes.changed).map(\.name)
            reload.waiting.removeAll { obsolete.contains($0.name) }
        }
        var report = ReloadReport()
        // Compares with what is in force, so that every reload names the keys that still wait.
        let keys = new.changes(since: running).keys.filter { Protection.named($0) == nil }
        let scopes = keys.map { ReloadScope.of($0, from: running, to: new) }
        let isAllInForce = destinations.take(new)
        current.broadcast?.apply(destinations.configuration, since: running)
        for (key, scope) in zip(keys, scopes) where key != Self.bitrateKey {
            switch scope {
            case .live: report.applied.append(new.setting(of: key))
            case .nextBroadcast where isAllInForce: report.applied.append(new.setting(of: key))
            case .nextBroadcast: report.nextBroadcast.append(key)
            case .restart: report.needRestart.append(key)
            }
        }
        try applyBitrate(of: new, isChanged: changes.keys.contains(Self.bitrateKey), running, isAllInForce, &report)
        // Also protections that a command has changed, and those that an earlier reload could not change.
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

    /// Adds the waiting destinations whose names are free. Called several times a second by the main thread until
    /// `isReloading` is false.
    package func goOn(_ report: ReloadReport = ReloadReport()) -> ReloadReport {
        // Removed destinations leave only after the broadcast has opened.
        guard !destinations.isOpening else { return report }
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
                // The next reload tries again, unless a command's destination has the name.
                guard !destinations.all.contains(where: { $0.name == destination.name }) else { continue }
                state.withLock { $0.configuration.destinations.removeAll { $0.name == destination.name } }
            }
        }
        return report
    }

    /// Whether destinations wait for earlier ones to close.
    package var isReloading: Bool { state.withLock { !$0.waiting.isEmpty } }

    private static let bitrateKey = "video.bitrate_kbps"

    /// Until the next broadcast, the bitrate cannot exceed the one that memory was planned for.
    private func applyBitrate(
        of new: Configuration, isChanged: Bool, _ running: Configuration, _ isAllInForce: Bool,
        _ report: inout ReloadReport
    ) throws(CommandRefusal) {
        let waits = !isAllInForce && new.video.bitrate > running.video.bitrate
        if waits { report.nextBroadcast.append(Self.bitrateKey) }
        guard isChanged else { return }
        let highest = destinations.configuration.video.bitrate
        let bitrate = min(new.video.bitrate, highest)
        try operating.configureBitrate(bitrate == highest ? nil : bitrate)
        if !waits { report.applied.append(new.setting(of: Self.bitrateKey)) }
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

    /// Throws if the destinations do not fit into `configuration`, including those that were added by command.
    private func requireRoom(
        for changes: ConfigurationChanges, webhooks: [WebhookConfiguration], in configuration: Configuration
    ) throws(CommandRefusal) {
        var then = configuration
        then.webhooks = webhooks
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
