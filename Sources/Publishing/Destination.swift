package import Buffering
internal import Endpoints
package import LinuxSystem
internal import Measurement
package import MediaCore

/// One destination of a broadcast: a cursor on the packet log, a thread, and a connection or a file, made anew as often
/// as it breaks.
///
/// `start`, then `stop` or `cancel`, then `join`, from any thread; what happens is told by events (on the
/// destination's thread) and snapshots. A slow or dead destination costs the others no packet. What the thread
/// does stands in `PublishingLoop`.
package final class Destination: Sendable {
    private static let stackBytes = 512 * 1024

    struct State {
        var snapshot: DestinationSnapshot
        var latency = LatencyHistogram()
        /// Packets that the gate did not let through any more.
        var refused = DropCounters()
        var thread: WorkerThread?
        /// Nil until `start`.
        var control: PublishControl?
        /// Nothing is drained beyond this; nil until `stop`.
        var stopDeadline: MediaTime?
        var isCancelled = false
        /// Nothing more is read: the broadcast goes on without this destination.
        var isLeaving = false
    }

    private let index: Int
    private let sink: any SinkSettings
    package let settings: DestinationSettings
    let format: BroadcastFormat
    let clock: any TimeSource
    let onEvent: @Sendable (DestinationEvent) -> Void
    let cursor: PacketCursor
    private let log: PacketLog
    /// Packets that were written before the destination began.
    private let writtenBefore: Int
    let state: Monitor<State>
    /// What the thread does between two waits of any length, beyond the deadlines that it has for each; nil for a file:
    /// a disk that hangs is no fault of the daemon's, and the other destinations go on without it.
    package let work: WorkMark?
    let files: FileReading
    let gate: TakeBackGate
    private let retry = Monitor<RetrySignal?>(nil)

    /// - Parameters:
    ///   - index: names the thread, "up-pub-<index>".
    ///   - onEvent: called on the destination's thread; it must not wait for the destination.
    package convenience init(
        index: Int, settings: DestinationSettings, log: PacketLog, format: BroadcastFormat, clock: any TimeSource,
        onEvent: @escaping @Sendable (DestinationEvent) -> Void
    ) {
        self.init(
            index: index, settings: settings, sink: settings.kind.sink, log: log, format: format, clock: clock,
            onEvent: onEvent)
    }

    /// - Parameter sink: in place of what `settings` name.
    init(
        index: Int, settings: DestinationSettings, sink: any SinkSettings, log: PacketLog, format: BroadcastFormat,
        clock: any TimeSource, onEvent: @escaping @Sendable (DestinationEvent) -> Void
    ) {
        self.index = index
        self.sink = sink
        self.settings = settings
        self.format = format
        self.clock = clock
        gate = TakeBackGate(clock: clock)
        self.onEvent = onEvent
        cursor = log.makeCursor(policy: settings.cursorPolicy, clock: clock)
        self.log = log
        writtenBefore = log.statistics.written
        work = sink.longestWaits == nil ? nil : WorkMark("the thread of destination \"\(settings.name)\"")
        let location = sink.location
        files = FileReading(work, clock: clock) { file in
            onEvent(.notice("\"\(settings.name)\" (\(location)): the disk of \(file) answers again"))
        }
        state = Monitor(
            State(
                snapshot: DestinationSnapshot(
                    name: settings.name, kind: sink.kindName, location: location, since: clock.now())))
    }

    /// Starts the thread, which connects at once; call it once, and `join` afterwards whatever happens.
    ///
    /// - Throws: where no thread or no descriptor is to be had.
    package func start() throws(Errno) {
        let control = try PublishControl()
        let retry = try RetrySignal()
        self.retry.withLock { $0 = retry }
        try state.withLock { state throws(Errno) in
            precondition(state.thread == nil, "a destination starts once")
            state.control = control
            if let deadline = state.stopDeadline { control.limit(to: deadline) }
            if state.isCancelled { control.cancel() }
            // Certificates are verified on this thread: their code uses more stack than ours.
            state.thread = try WorkerThread(name: "up-pub-\(index)", stackBytes: Self.stackBytes) {
                PublishingLoop(self, sinks: self.makeSinks(control), control: control, retry: retry).run()
            }
        }
    }

    private func makeSinks(_ control: PublishControl) -> any SinkFactory {
        sink.makeFactory(
            SinkContext(
                format: format, clock: clock, control: control, files: files,
                onNotice: { self.onEvent(.notice("\(self.title): \($0)")) },
                onWarning: { self.onEvent(.warning("\(self.title): \($0)")) }))
    }

    /// What the thread may wait for; zero where nobody watches it.
    var longestWaits: SinkWaits { sink.longestWaits ?? SinkWaits(opening: .zero, turn: .zero) }

    /// Sends what the log still holds until `deadline` (monotonic clock), then unpublishes and closes in order.
    ///
    /// To be called after `PacketLog.end`; returns at once. A destination that waits for its next attempt makes it at
    /// once, and further ones until `deadline`.
    package func stop(deadline: MediaTime) {
        state.withLock { state in
            state.stopDeadline = min(deadline, state.stopDeadline ?? deadline)
            state.control?.limit(to: deadline)
        }
        wake()
    }

    /// A destination that waits for its next attempt makes it now; any other takes no notice. Returns at once.
    package func retryNow() { retry.withLock { $0 }?.signal() }

    /// Nothing of earlier epochs goes out once this returns, but what was decoded up to `keptUntil`; not even what the
    /// kernel holds: where that is more than nothing, the connection is given up. What is on its way just then is
    /// watched by the destination's thread until it has arrived.
    ///
    /// - Returns: the newest presentation time of what had gone out by then, in whole or in part.
    package func takeBack(before epoch: CurtainEpoch, keeping keptUntil: MediaTime? = nil) -> MediaTime? {
        defer { if gate.isAwaiting { cursor.wake() } }
        return gate.raise(to: epoch, keeping: keptUntil)
    }

    private func wake() {
        cursor.wake()
        retryNow()
    }

    /// Ends in order what the packets sent so far began, until `deadline` (monotonic clock): for a destination that is
    /// removed while the broadcast goes on. Returns at once.
    package func leave(deadline: MediaTime) {
        state.withLock { $0.isLeaving = true }
        stop(deadline: deadline)
    }

    /// Drops the connection at once, whatever is going on; returns at once.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.control?.cancel()
        }
        wake()
    }

    /// Waits for the thread's end, which `stop` or `cancel` brings about.
    package func join() { state.withLock { $0.thread }?.join() }

    /// The same until `deadline` (CLOCK_MONOTONIC) at most. False where the thread hangs, as one that writes to a disk
    /// can: it is left to itself, and ends as soon as it gets on.
    package func join(until deadline: MediaTime) -> Bool {
        guard let thread = state.withLock({ $0.thread }), !thread.join(until: deadline) else { return true }
        cancel()
        return false
    }

    /// The thread is at its end: `join` waits for next to nothing.
    package var hasEnded: Bool { state.withLock { [.stopped, .failed].contains($0.snapshot.state) } }

    /// How the connection does; cheaper than `snapshot`.
    package var link: LinkReport { state.withLock { $0.snapshot.link } }

    package var snapshot: DestinationSnapshot {
        let (held, refused) = state.withLock { state in
            var snapshot = state.snapshot
            snapshot.latency = state.latency.summary
            snapshot.lastPTS = gate.lastPTS
            return (snapshot, state.refused)
        }
        var snapshot = held
        snapshot.drops = cursor.drops
        for track in Track.allCases { snapshot.drops[track][.takenBack] += refused[track].takenBack }
        snapshot.backlog = cursor.backlog
        snapshot.offeredPackets = log.statistics.written - writtenBefore
        return snapshot
    }

    /// "main" (rtmp://host/app): how messages call the destination.
    package var title: String { "\"\(settings.name)\" (\(sink.location))" }
}
