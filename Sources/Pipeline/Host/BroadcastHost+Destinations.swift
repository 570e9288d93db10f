internal import Configuration
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Publishing

/// Why a command was not carried out: one word for programs, one sentence for people.
package struct CommandRefusal: Error, Equatable, Sendable {
    package enum Code: String, Sendable {
        case badDestination = "bad_destination"
        case notFound = "not_found"
        case doesNotFit = "does_not_fit"
        case failed
        /// The destination has been given up for good.
        case hasFailed = "has_failed"
        case badValue = "bad_value"
        case noBroadcast = "no_broadcast"
        case snapshotUnavailable = "snapshot_unavailable"
        /// A protection that is asked for is not there.
        case turnedOff = "turned_off"
        /// Somebody relies on what was to be turned off.
        case isHeld = "is_held"
        /// It belongs to somebody else.
        case forbidden
    }

    package var code: Code
    package var sentence: String

    package init(code: Code, sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}

/// Destinations that come and go while the daemon runs. What is changed here lasts until the daemon ends.
extension BroadcastHost {
    /// Time for a destination that is removed to end in order.
    private static let leaveTimeout = MediaTime.seconds(2)

    /// Begins to add one destination, written as in the configuration file, in YAML or JSON. Where a broadcast is live,
    /// it begins there with the next keyframe. Waits for no data thread, and for no disk.
    ///
    /// - Returns: what is to be asked for the outcome.
    package func addDestination(_ text: [UInt8]) throws(CommandRefusal) -> DestinationAddition {
        let changed: Configuration
        do {
            changed = try currentConfiguration.adding(destination: text, from: "request")
        } catch {
            let problems = error.problems.map(\.description)
            throw CommandRefusal(code: .badDestination, sentence: problems.joined(separator: "; "))
        }
        guard let added = changed.destinations.last else {
            throw CommandRefusal(code: .badDestination, sentence: "request: it names no destination")
        }
        return DestinationAddition(added, to: self)
    }

    /// Adds one whose settings and files have been checked. From any one thread at a time.
    func addDestination(_ destination: DestinationConfiguration) throws(CommandRefusal) {
        var changed = currentConfiguration
        guard !changed.destinations.contains(where: { $0.name == destination.name }) else {
            throw CommandRefusal(
                code: .failed, sentence: "destination \"\(destination.name)\" was added by command meanwhile; it stays")
        }
        changed.destinations.append(destination)
        try add(destination, making: changed)
    }

    private func add(_ added: DestinationConfiguration, making changed: Configuration) throws(CommandRefusal) {
        let plan = changed.memoryPlan(current?.savings.fit)
        guard plan.fits else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "with \"\(added.name)\" \(plan.excess); "
                    + "raise memory.cap_bytes or remove another destination first")
        }
        if let broadcast = current, !added.refuses(broadcast.started.source) {
            do {
                try broadcast.destinations.add(configuration.settings(of: added, environment: environment))
            } catch {
                throw CommandRefusal(code: .failed, sentence: error.sentence)
            }
        }
        // Not the whole list: another thread may have changed it meanwhile.
        state.withLock { $0.destinations.append(added) }
        logger.notice("destination added", metadata: ["destination": "\(added)"])
    }

    /// Removes a destination; a connection that is open is ended in order while the others go on.
    package func removeDestination(_ name: String) throws(CommandRefusal) {
        try requireDestination(name)
        state.withLock { state in
            state.destinations.removeAll { $0.name == name }
            state.worked[name] = nil
        }
        if let broadcast = current {
            notePublished(broadcast.destinations.snapshots)
            broadcast.destinations.remove(name, deadline: clock.now() + Self.leaveTimeout)
        }
        logger.notice("destination removed", metadata: ["destination": "\(name)"])
        if currentConfiguration.destinations.isEmpty {
            logger.warning(
                "no destination is left",
                metadata: ["now": "what is broadcast goes nowhere until one is added (upcastctl destination add)"])
        }
    }

    /// Destinations that wait for their next attempt make it now: the one of that name, or all.
    package func retryDestinations(_ name: String?) throws(CommandRefusal) {
        if let name {
            try requireDestination(name)
            let snapshot = current?.destinations.snapshots.first { $0.name == name }
            if let snapshot, snapshot.state == .failed {
                throw CommandRefusal(
                    code: .hasFailed,
                    sentence: (snapshot.lastError?.failure ?? "destination \"\(name)\" has failed")
                        + ", which no further attempt would change; remove it, and add it again as it should be")
            }
        }
        current?.destinations.retry(name)
    }

    private func requireDestination(_ name: String) throws(CommandRefusal) {
        let names = currentConfiguration.destinations.map(\.name)
        guard !names.contains(name) else { return }
        let known = names.isEmpty ? "there are none" : "there is \(names.joined(separator: ", "))"
        throw CommandRefusal(code: .notFound, sentence: "there is no destination \"\(name)\"; \(known)")
    }
}
