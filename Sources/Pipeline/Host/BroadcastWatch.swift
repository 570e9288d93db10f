internal import Buffering
internal import ControlProtocol
internal import Ingest
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Publishing

/// Receives reports from the threads of a broadcast: changes of destinations, and failures. Ends the broadcast when
/// it cannot continue. Any thread.
final class BroadcastWatch: Sendable {
    private let current: CurrentBroadcast
    private let phase: BroadcastPhase
    private let destinations: DestinationRoster
    private let server: IngestServer
    private let logger: Logger

    init(
        _ current: CurrentBroadcast, _ phase: BroadcastPhase, _ destinations: DestinationRoster, server: IngestServer,
        logger: Logger
    ) {
        (self.current, self.phase, self.destinations) = (current, phase, destinations)
        (self.server, self.logger) = (server, logger)
    }

    func destinationChanged(_ name: String, _ event: DestinationEvent) {
        event.log(to: logger, name: name, isFlapping: isFlapping(name))
        endWithoutDestinations()
        if case .state(.connecting) = event { noteConnecting(name) }
        if case .state(.publishing) = event { destinations.noteWorked(name) }
        phase.note()
        current.running?.advisor.look()
    }

    private func isFlapping(_ name: String) -> Bool {
        current.broadcast?.destinations.contains { $0.name == name && $0.isFlapping } ?? false
    }

    /// Tells the client about a connection attempt. `ClientAdvice` tells it when packets flow.
    private func noteConnecting(_ name: String) {
        let snapshots = current.broadcast?.destinations.snapshots ?? []
        // The client already knows that one of several destinations is lost, so another attempt is no news.
        guard !snapshots.isPublishing else { return }
        let attempt = snapshots.first { $0.name == name }?.attempt ?? 1
        server.notify(
            StateMessage(
                .connecting, value: UInt32(clamping: attempt), text: "destination \"\(name)\" is being connected"))
    }

    /// Ends a broadcast whose destinations have all failed. As long as one is left, the broadcast continues.
    func endWithoutDestinations() {
        guard let snapshots = current.broadcast?.destinations.snapshots, snapshots.noneIsLeft else { return }
        // Each destination has logged its own error.
        fail("no destination is left; \(snapshots.failures)", logged: "no destination is left")
    }

    /// Ends the broadcast at its first failure. Later failures, and those of a broadcast that is closing, are ignored.
    ///
    /// - Parameters:
    ///   - sentence: for the client.
    ///   - logged: for the log, if it differs, because parts of the sentence have already been logged.
    func fail(_ sentence: String, logged: String? = nil) {
        guard current.state.withLock({ $0.lifecycle.fail() }) else { return }
        logger.tell(.broadcastFailed(why: logged ?? sentence))
        server.fail(sentence)
    }
}
