internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// What the broadcasts that have ended came to: for the status, and for what the daemon's end is called. Any thread.
final class BroadcastLedger: Sendable {
    struct State {
        /// What the broadcasts that have ended counted.
        var totals = StatusReport()
        /// How the last one's destinations ended: an operator who looks afterwards sees why.
        var lastDestinations: [DestinationSnapshot] = []
        /// False where the broadcast that a stop ended could not send all that it had encoded.
        var hasDrained = true
        /// A destination has taken packets; and a broadcast has ended of which none took any.
        var hasPublished = false
        var hasPublishedNothing = false
        /// No broadcast has ended of which viewers lost a packet.
        var hasSentAll = true
    }
    private let state = Monitor(State())

    var now: State { state.withLock { $0 } }

    /// Whether anything has reached a destination; before its figures go.
    func notePublished(_ snapshots: [DestinationSnapshot], isEnded: Bool = false) {
        let has = snapshots.contains { $0.sentPackets > 0 }
        // A broadcast without a destination, or without a picture to begin with, had nothing to publish.
        let had = snapshots.contains { !$0.isDrained && ($0.offeredPackets > 0 || $0.state == .failed) }
        state.withLock { state in
            state.hasPublished = state.hasPublished || has
            state.hasPublishedNothing = state.hasPublishedNothing || (isEnded && had && !has)
        }
    }

    /// A broadcast has ended.
    ///
    /// - Parameters:
    ///   - hasSentAll: viewers have got every packet of it.
    ///   - drained: whether all was sent in time; nil where that does not matter for the daemon's end.
    ///   - forget: called under the ledger's lock, so that whoever looks finds it either here or there.
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

    /// The lifecycle and the ledger as they are at one moment.
    func look<Result>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }
}
