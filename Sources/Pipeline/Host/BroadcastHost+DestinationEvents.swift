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
        if case .state(.publishing) = event { noteWorked(name) }
        notePhase()
        let message = state.withLock { state -> StateMessage? in
            guard let broadcast = state.broadcast, state.closer == nil else { return nil }
            return state.advice.look(broadcast.destinations.adviceFigures(at: clock.now()))
        }
        if let message { server.notify(message) }
    }

    private func isFlapping(_ name: String) -> Bool {
        current?.destinations.contains { $0.name == name && $0.isFlapping } ?? false
    }

    /// What it refuses in a later broadcast may pass.
    private func noteWorked(_ name: String) {
        state.withLock { state in
            guard let destination = state.destinations.first(where: { $0.name == name }) else { return }
            state.worked[name] = destination.url
        }
    }

    /// That packets flow the client learns from `ClientAdvice`.
    private func noteConnecting(_ name: String) {
        let snapshots = current?.destinations.snapshots ?? []
        // One of several that is tried again is no news: the client knows that it is lost.
        guard !snapshots.isPublishing else { return }
        let attempt = snapshots.first { $0.name == name }?.attempt ?? 1
        server.notify(
            StateMessage(
                .connecting, value: UInt32(clamping: attempt), text: "destination \"\(name)\" is being connected"))
    }

    func bitrateChanged(_ step: BitrateStep) {
        let isFull = step.bitrate == configuration.video.bitrate
        logger.log(
            level: isFull ? .info : .notice, "video bitrate changed",
            metadata: [
                "kbit_s": "\(step.bitrate / 1000)", "why": "\(step.reason)",
                "frames": "\(step.frameRateDivisor == 1 ? "all" : "1 of \(step.frameRateDivisor)")",
            ])
    }

    func effortChanged(_ step: EffortStep) {
        var metadata: Logger.Metadata = ["effort": "\(step.effort.rawValue)", "busy_percent": "\(step.busyPercent)"]
        if step.superseded > 0 { metadata["superseded"] = "\(step.superseded)" }
        if step.isLower {
            metadata["why"] = "the processor is short"
            logger.warning("encoder effort lowered", metadata: metadata)
        } else {
            metadata["why"] = "the processor has room again"
            logger.notice("encoder effort raised", metadata: metadata)
        }
    }

    /// One dead destination costs the others nothing; when none is left there is nothing to broadcast to.
    func endWithoutDestinations() {
        guard let snapshots = current?.destinations.snapshots, snapshots.noneIsLeft else { return }
        // Each destination has logged its own error.
        failed("no destination is left; \(snapshots.failures)", logged: "no destination is left")
    }
}
