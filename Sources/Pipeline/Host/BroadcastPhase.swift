internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// The state that `status` reports, and since when. Any thread.
final class BroadcastPhase: Sendable {
    private let current: CurrentBroadcast
    private let clock: any TimeSource
    private let state: Monitor<(phase: StatusReport.State, since: MediaTime)>

    init(_ current: CurrentBroadcast, clock: any TimeSource) {
        (self.current, self.clock) = (current, clock)
        state = Monitor((.idle, clock.now()))
    }

    /// Determines the state again. Called after everything that can change it.
    func note() {
        let now = clock.now()
        // Under this lock, so that a thread does not overwrite a newer state with an older one.
        state.withLock { state in
            let (lifecycle, isStopping) = current.state.withLock { ($0.lifecycle, $0.isStopping) }
            let destinations = lifecycle.run?.broadcast.destinations
            let phase = Self.phase(
                lifecycle, isStopping: isStopping,
                takesPackets: destinations?.contains(where: \.takesPackets) ?? false,
                // Destinations that got packets may have been removed since; `before` remembers them.
                hasPublished: destinations?.contains { $0.video.packets > 0 } ?? false, before: state.phase)
            if phase != state.phase { state = (phase, now) }
        }
    }

    var now: (phase: StatusReport.State, since: MediaTime) { state.withLock { $0 } }

    static func phase(
        _ lifecycle: Lifecycle, isStopping: Bool, takesPackets: Bool, hasPublished: Bool, before: StatusReport.State
    ) -> StatusReport.State {
        guard !isStopping else { return .stopping }
        switch lifecycle {
        case .idle, .starting: return .idle
        case .closing: return .draining
        case .running(let run) where run.isPaused || run.isPausedByClient: return .paused
        case .running:
            guard !takesPackets else { return .live }
            return hasPublished || before == .live || before == .reconnecting ? .reconnecting : .starting
        }
    }
}
