internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// The results of all ended broadcasts, for the status and for the daemon's exit status. Any thread.
final class BroadcastLedger: Sendable {
    struct State {
        /// The sum of their counters.
        var totals = StatusReport()
        /// The destinations at the end of the last broadcast, so that operators see afterwards why it ended.
        var lastDestinations: [DestinationSnapshot] = []
        /// False if a broadcast that was ended by a stop could not send everything that it had encoded.
        var hasDrained = true
        /// `hasPublished`: a destination has taken packets. `hasPublishedNothing`: a broadcast has ended without that.
        var hasPublished = false
        var hasPublishedNothing = false
        /// Every ended broadcast has sent every packet.
        var hasSentAll = true
    }
    private let state = Monitor(State())

    var now: State { state.withLock { $0 } }

    /// Notes whether destinations have got packets. Call before their counters are discarded.
    func notePublished(_ snapshots: [DestinationSnapshot], isEnded: Bool = false) {
        let has = snapshots.contains { $0.sentPackets > 0 }
        // A broadcast without destinations or without packets had nothing to publish.
        let had = snapshots.contains { !$0.isDrained && ($0.offeredPackets > 0 || $0.state == .failed) }
        state.withLock { state in
            state.hasPublished = state.hasPublished || has
            state.hasPublishedNothing = state.hasPublishedNothing || (isEnded && had && !has)
        }
    }

    /// Adds an ended broadcast.
    ///
    /// - Parameters:
    ///   - hasSentAll: whether every packet was sent.
    ///   - drained: whether everything was sent in time; nil if that does not affect the exit status.
    ///   - forget: ends the broadcast's lifecycle. Called under the ledger's lock, so that `look` finds the broadcast
    ///     in exactly one of the two.
    func note(
        ended counted: StatusReport, _ destinations: [DestinationSnapshot], hasSentAll: Bool, drained: Bool?,
        forget: () -> Void
    ) {
        state.withLock { state in
            state.totals.note(ended: counted)
            state.lastDestinations = destinations
            state.hasSentAll = state.hasSentAll && hasSentAll
            if let drained { state.hasDrained = drained }
            forget()
        }
    }

    /// Calls `body` under the lock, so that it sees lifecycle and ledger at the same moment.
    func look<Result>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }
}
