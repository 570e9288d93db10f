package import Configuration
package import ControlProtocol
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Publishing

/// The destinations of the configuration, and those that are added and removed while the daemon runs. Changes last
/// until the daemon ends. Any thread.
package final class DestinationRoster: Sendable {
    private struct State {
        /// The configuration of the current broadcast, or of the next one if none runs. Its destinations are those at
        /// the daemon's start.
        var base: Configuration
        /// The configuration of the next broadcast, if that is not `base`.
        var next: Configuration?
        var destinations: [DestinationConfiguration]
        /// As they were loaded last. The memory plan counts them.
        var webhooks: [WebhookConfiguration]
        /// The URLs of destinations that have worked since the daemon started, by name.
        var worked: [String: DestinationURL] = [:]
        /// Destinations that were added and removed while a broadcast opens, which it may not know; nil if none opens.
        var missed: [Change]?

        mutating func change(_ change: Change) {
            switch change {
            case .added(let destination): destinations.append(destination)
            case .removed(let name):
                destinations.removeAll { $0.name == name }
                worked[name] = nil
            }
            missed?.append(change)
        }
    }

    private enum Change {
        case added(DestinationConfiguration)
        case removed(String)
    }

    /// The time that a removed destination has to close in order.
    private static let leaveTimeout = MediaTime.seconds(2)

    private let state: Monitor<State>
    /// Held while a destination is checked and added, so that two do not take the same name or memory.
    private let adding = Monitor(())
    let environment: [String: String]
    private let current: CurrentBroadcast
    private let ledger: BroadcastLedger
    private let clock: any TimeSource
    private let logger: Logger

    /// - Parameter environment: environment variables that may hold stream keys and logins (`key_env`, `login_env`).
    init(
        _ configuration: Configuration, environment: [String: String], _ current: CurrentBroadcast,
        _ ledger: BroadcastLedger, clock: any TimeSource, logger: Logger
    ) {
        (self.environment, self.current, self.ledger) = (environment, current, ledger)
        (self.clock, self.logger) = (clock, logger)
        state = Monitor(
            State(base: configuration, destinations: configuration.destinations, webhooks: configuration.webhooks))
    }

    /// The configuration in force, with the current destinations.
    package var configuration: Configuration {
        state.withLock { state in
            var configuration = state.base
            (configuration.destinations, configuration.webhooks) = (state.destinations, state.webhooks)
            return configuration
        }
    }

    /// Notes the webhooks that a reload has put into force.
    func note(_ webhooks: [WebhookConfiguration]) { state.withLock { $0.webhooks = webhooks } }

    // MARK: Reload

    /// Takes over what `new` may change without a restart: at once if no broadcast runs, else its live part now and the
    /// rest with the next broadcast. Destinations stay as they are.
    ///
    /// - Returns: whether everything is in force now.
    func take(_ new: Configuration) -> Bool {
        state.withLock { state in
            let next = state.base.taking(new, isLive: false)
            guard current.number != nil else {
                (state.base, state.next) = (next, nil)
                return true
            }
            state.base = state.base.taking(new, isLive: true)
            state.next = next
            return false
        }
    }

    /// Puts `next` into force for a broadcast that begins. Ingest thread.
    func beginNext() {
        state.withLock { state in
            if let next = state.next { (state.base, state.next) = (next, nil) }
        }
    }

    // MARK: Opening

    /// Returns the configuration that a broadcast opens with. Later changes are kept for `endOpening`. Ingest thread.
    func beginOpening() -> Configuration {
        state.withLock { $0.missed = [] }
        return configuration
    }

    /// Applies the changes that came while a broadcast opened; it is now the current one. Called without arguments if
    /// the broadcast could not open. Ingest thread.
    func endOpening(_ destinations: DestinationSet? = nil, of source: SourceKind? = nil) {
        while let missed = takeMissed() {
            guard let destinations, let source else { continue }
            for change in missed {
                switch change {
                case .added(let added):
                    do throws(WorkerFailure) { try start(added, in: destinations, of: source) } catch {
                        logger.tell(.destinationWarning(destination: added.name, what: error.sentence))
                    }
                case .removed(let name): leave(name, in: destinations)
                }
            }
        }
    }

    /// Returns the changes since the last call. Nil if there are none: from then on, changes reach the broadcast
    /// directly.
    private func takeMissed() -> [Change]? {
        state.withLock { state in
            let missed = state.missed ?? []
            state.missed = missed.isEmpty ? nil : []
            return missed.isEmpty ? nil : missed
        }
    }

    /// Whether changes are kept for a broadcast that opens. A removed destination may still publish then.
    var isOpening: Bool { state.withLock { $0.missed != nil } }

    private func start(
        _ added: DestinationConfiguration, in destinations: DestinationSet, of source: SourceKind
    ) throws(WorkerFailure) {
        guard !added.refuses(source) else { return }
        try destinations.add(configuration.settings(of: added, environment: environment))
    }

    private func leave(_ name: String, in destinations: DestinationSet) {
        ledger.notePublished(destinations.snapshots)
        destinations.remove(name, deadline: clock.now() + Self.leaveTimeout)
    }

    // MARK: Destinations

    package var all: [DestinationConfiguration] { state.withLock { $0.destinations } }

    /// The URLs of destinations that have worked since the daemon started, by name.
    var worked: [String: DestinationURL] { state.withLock { $0.worked } }

    /// Throws if every destination refuses the source. No destination at all is allowed: the operator wants that.
    func require(accepting source: SourceKind) throws(ProtocolError) {
        let all = all
        let refusing = all.filter { $0.refuses(source) }.map(\.name)
        guard !refusing.isEmpty else { return }
        logger.tell(.sourceRefused(source: source, by: refusing))
        guard refusing.count == all.count else { return }
        throw ProtocolError(
            .broadcastFailed, fatal: true,
            "the broadcast cannot start: every destination refuses \(source) (destinations[].refuse_sources)")
    }

    /// Notes that a destination has published. In later broadcasts its errors can be temporary.
    func noteWorked(_ name: String) {
        state.withLock { state in
            guard let destination = state.destinations.first(where: { $0.name == name }) else { return }
            state.worked[name] = destination.url
        }
    }

    /// Starts to add a destination, written as in the configuration file, in YAML or JSON. In a live broadcast it
    /// starts with the next keyframe. Waits neither for a data thread nor for a disk.
    ///
    /// - Returns: an object that has the outcome later.
    package func add(_ text: [UInt8]) throws(CommandRefusal) -> DestinationAddition {
        let changed: Configuration
        do {
            changed = try configuration.adding(destination: text)
        } catch {
            let problems = error.problems.map(\.description)
            throw CommandRefusal(code: .badDestination, sentence: problems.joined(separator: "; "))
        }
        guard let added = changed.destinations.last else {
            throw CommandRefusal(code: .badDestination, sentence: "the request names no destination")
        }
        return DestinationAddition(added, to: self)
    }

    /// Adds a destination whose settings and files have been checked.
    func add(_ destination: DestinationConfiguration) throws(CommandRefusal) {
        try adding.withLock { _ throws(CommandRefusal) in try addAlone(destination) }
    }

    private func addAlone(_ destination: DestinationConfiguration) throws(CommandRefusal) {
        var changed = configuration
        guard !changed.destinations.contains(where: { $0.name == destination.name }) else {
            throw CommandRefusal(
                code: .failed, sentence: "destination \"\(destination.name)\" was added by command meanwhile; it stays")
        }
        guard changed.destinations.count < Configuration.maxDestinations else {
            let limit = "there are \(Configuration.maxDestinations) destinations, which is the limit"
            throw CommandRefusal(code: .doesNotFit, sentence: "\(limit); remove one first")
        }
        changed.destinations.append(destination)
        try add(destination, making: changed)
    }

    private func add(_ added: DestinationConfiguration, making changed: Configuration) throws(CommandRefusal) {
        let plan = changed.memoryPlan(current.broadcast?.savings.fit)
        guard plan.fits else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "with \"\(added.name)\" \(plan.excess); "
                    + "raise memory.cap_bytes or remove another destination first")
        }
        let isMissed = state.withLock { state in
            guard state.missed != nil else { return false }
            state.change(.added(added))
            return true
        }
        if !isMissed {
            if let broadcast = current.broadcast {
                do throws(WorkerFailure) {
                    try start(added, in: broadcast.destinations, of: broadcast.started.source)
                } catch {
                    throw CommandRefusal(code: .failed, sentence: error.sentence)
                }
            }
            state.withLock { $0.change(.added(added)) }
        }
        logger.tell(.destinationAdded(destination: "\(added)"))
    }

    /// Removes a destination. Its open connection is closed in order, while the other destinations continue.
    package func remove(_ name: String) throws(CommandRefusal) {
        try require(name)
        let isMissed = state.withLock { state in
            state.change(.removed(name))
            return state.missed != nil
        }
        if !isMissed, let broadcast = current.broadcast { leave(name, in: broadcast.destinations) }
        logger.tell(.destinationRemoved(destination: name))
        if all.isEmpty {
            logger.tell(.noDestinationIsLeft)
        }
    }

    /// Lets destinations that wait for their next attempt make it now: the one of that name, or all.
    package func retry(_ name: String?) throws(CommandRefusal) {
        if let name {
            try require(name)
            let snapshot = current.broadcast?.destinations.snapshots.first { $0.name == name }
            if let snapshot, snapshot.state == .failed {
                throw CommandRefusal(
                    code: .hasFailed,
                    sentence: (snapshot.lastError?.failure ?? "destination \"\(name)\" has failed")
                        + ", which no further attempt would change; remove it, and add it again as it should be")
            }
        }
        current.broadcast?.destinations.retry(name)
    }

    private func require(_ name: String) throws(CommandRefusal) {
        let names = all.map(\.name)
        guard !names.contains(name) else { return }
        let known = names.isEmpty ? "there are none" : "there is \(names.joined(separator: ", "))"
        throw CommandRefusal(code: .notFound, sentence: "there is no destination \"\(name)\"; \(known)")
    }
}
