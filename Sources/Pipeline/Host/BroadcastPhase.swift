internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy
internal import Publishing

/// The states that `status` reports, each with its start: what the daemon does, and what viewers get. Any thread.
final class BroadcastPhase: Sendable {
    struct States {
        var phase: (state: StatusReport.State, since: MediaTime)
        var air: (state: AirState, since: MediaTime)
        var isRecording = false
        /// Changes of the air state that have not been reported yet, the oldest first.
        fileprivate var untold: [DaemonEvent] = []
        /// Whether a thread is reporting them now.
        fileprivate var isTelling = false

        /// The most unreported changes; beyond them the oldest is dropped. Reporting takes less time than changes do.
        private static let mostUntold = 16

        fileprivate mutating func enter(_ state: AirState, at now: MediaTime) {
            if untold.count == Self.mostUntold { untold.removeFirst() }
            untold.append(.airStateChanged(state: state, previous: air.state, isRecording: isRecording))
            air = (state, now)
        }
    }

    private let current: CurrentBroadcast
    private let clock: any TimeSource
    private let onEvent: @Sendable (DaemonEvent) -> Void
    private let states: Monitor<States>

    /// - Parameter onEvent: called for each change of the air state, in order, on a thread that calls `note`.
    init(_ current: CurrentBroadcast, clock: any TimeSource, onEvent: @escaping @Sendable (DaemonEvent) -> Void) {
        (self.current, self.clock, self.onEvent) = (current, clock, onEvent)
        states = Monitor(States(phase: (.idle, clock.now()), air: (.idle, clock.now())))
    }

    /// Determines the states again. Called after everything that can change them.
    func note() {
        let now = clock.now()
        // Under this lock, so that a thread does not overwrite a newer state with an older one.
        states.withLock { states in
            let (lifecycle, isStopping) = current.state.withLock { ($0.lifecycle, $0.isStopping) }
            let broadcast = lifecycle.run?.broadcast
            var air = AirFigures()
            air.hasClient = lifecycle.running != nil
            air.isCurtainUp = broadcast?.curtain.stamp.isUp ?? false
            broadcast?.destinations.forEachSnapshot { air.note($0, at: now) }
            states.isRecording = air.recording > 0
            if air.state != states.air.state { states.enter(air.state, at: now) }
            let phase = Self.phase(
                lifecycle, isStopping: isStopping,
                takesPackets: broadcast?.destinations.contains(where: \.takesPackets) ?? false,
                // Destinations that got packets may have been removed since; `before` remembers them.
                hasPublished: broadcast?.destinations.contains { $0.video.packets > 0 } ?? false,
                before: states.phase.state)
            if phase != states.phase.state { states.phase = (phase, now) }
        }
        tellChanges()
    }

    /// Reports the changes without holding the lock, because a log may block. One thread at a time reports, also what
    /// others have noted, so the order is kept.
    private func tellChanges() {
        var isTeller = false
        while true {
            let next: DaemonEvent? = states.withLock { [isTeller] states in
                guard isTeller || !states.isTelling else { return nil }
                states.isTelling = !states.untold.isEmpty
                return states.isTelling ? states.untold.removeFirst() : nil
            }
            guard let next else { return }
            isTeller = true
            onEvent(next)
        }
    }

    var now: States { states.withLock { $0 } }

    static func phase(
        _ lifecycle: Lifecycle, isStopping: Bool, takesPackets: Bool, hasPublished: Bool, before: StatusReport.State
    ) -> StatusReport.State {
        guard !isStopping else { return .stopping }
        switch lifecycle {
        case .idle, .starting: return .idle
        case .closing: return .draining
        case .running(let running) where running.isPaused || running.isPausedByClient: return .paused
        case .running:
            guard !takesPackets else { return .live }
            return hasPublished || before == .live || before == .reconnecting ? .reconnecting : .starting
        }
    }
}
