internal import Buffering
internal import Configuration
internal import Ingest
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Publishing

/// What the publishing threads report, and what of it the client is told. Any thread.
extension BroadcastHost {
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

    /// That packets flow the client learns from `ClientAdvice`.
    private func noteConnecting(_ name: String) {
        let snapshots = current.broadcast?.destinations.snapshots ?? []
        // One of several that is tried again is no news: the client knows that it is lost.
        guard !snapshots.isPublishing else { return }
        let attempt = snapshots.first { $0.name == name }?.attempt ?? 1
        server.notify(
            StateMessage(
                .connecting, value: UInt32(clamping: attempt), text: "destination \"\(name)\" is being connected"))
    }

    /// One dead destination costs the others nothing; when none is left there is nothing to broadcast to.
    func endWithoutDestinations() {
        guard let snapshots = current.broadcast?.destinations.snapshots, snapshots.noneIsLeft else { return }
        // Each destination has logged its own error.
        failed("no destination is left; \(snapshots.failures)", logged: "no destination is left")
    }
}
