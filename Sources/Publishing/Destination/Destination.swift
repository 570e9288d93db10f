package import Buffering
internal import ControlProtocol
internal import Endpoints
package import LinuxSystem
internal import Measurement
package import MediaCore

/// One destination of a broadcast: a cursor of the packet log, a thread, and a connection or file that is re-created
/// after each failure.
///
/// Call `start`, then `stop` or `cancel`, then `join`, from any thread. Events (on the destination's thread) and
/// snapshots report its progress. A slow or dead destination costs the other destinations no packet.
/// `PublishingLoop` runs on the thread.
package final class Destination: Sendable {
    private static let stackBytes = 512 * 1024

    struct State {
        var snapshot: DestinationSnapshot
        var latency = LatencyHistogram()
        /// Packets that the take-back gate refused.
        var refused = DropCounters()
        var thread: WorkerThread?
        /// Nil until `start`.
        var control: PublishControl?
        /// The end of draining; nil until `stop`.
        var stopDeadline: MediaTime?
        var isCancelled = false
        /// Whether the destination reads no more packets, because it leaves a broadcast that continues.
        var isLeaving = false
    }

    private let index: Int
    private let sink: any SinkSettings
    let facts: SinkFacts
    package let settings: DestinationSettings
    let format: BroadcastFormat
    let clock: any TimeSource
    let onEvent: @Sendable (DestinationEvent) -> Void
    let cursor: PacketCursor
    private let log: PacketLog
    /// The number of packets written before the destination existed.
    private let writtenBefore: Int
    let state: Monitor<State>
    /// Marks the thread's work between waits; each piece has its own deadline. Nil for a file: a disk that hangs is not
    /// an error of the daemon, and the other destinations continue.
    package let work: WorkMark?
    let files: FileReading
    let gate: TakeBackGate
    private let retry = Monitor<RetrySignal?>(nil)

    /// - Parameters:
    ///   - index: of all destinations that the broadcast has had; for the thread's name, "up-pub-<index>".
    ///   - onEvent: called on the destination's thread; it must not wait for the destination.
    package convenience init(
        index: Int, settings: DestinationSettings, log: PacketLog, format: BroadcastFormat, clock: any TimeSource,
        onEvent: @escaping @Sendable (DestinationEvent) -> Void
    ) {
        self.init(
            index: index, settings: settings, sink: settings.kind.sink, log: log, format: format, clock: clock,
            onEvent: onEvent)
    }

    /// - Parameter sink: replaces the sink of `settings`.
    init(
        index: Int, settings: DestinationSettings, sink: any SinkSettings, log: PacketLog, format: BroadcastFormat,
        clock: any TimeSource, onEvent: @escaping @Sendable (DestinationEvent) -> Void
    ) {
        self.index = index
        self.sink = sink
        facts = sink.facts
        self.settings = settings
        self.format = format
        self.clock = clock
        gate = TakeBackGate(clock: clock)
        self.onEvent = onEvent
        cursor = log.makeCursor(policy: settings.cursorPolicy, clock: clock)
        self.log = log
        writtenBefore = log.statistics.written
        work = facts.longestWaits == nil ? nil : WorkMark("the thread of destination \"\(settings.name)\"")
        let location = facts.location
        files = FileReading(work, clock: clock) { file in
            onEvent(.notice("\"\(settings.name)\" (\(location)): the disk of \(file) answers again"))
        }
        var snapshot = DestinationSnapshot(
            name: settings.name, kind: DestinationKind(rawValue: facts.kind), location: location, since: clock.now())
        snapshot.link.destination = index
        state = Monitor(State(snapshot: snapshot))
    }

    /// Starts the thread, which connects at once. Call it once, and call `join` afterwards even if it throws.
    ///
    /// - Throws: if the system cannot provide a thread or a descriptor.
    package func start() throws(Errno) {
        let control = try PublishControl(clock: clock)
        let retry = try RetrySignal()
        self.retry.withLock { $0 = retry }
        try state.withLock { state throws(Errno) in
            precondition(state.thread == nil, "a destination starts once")
            state.control = control
            if let deadline = state.stopDeadline { control.limit(to: deadline) }
            if state.isCancelled { control.cancel() }
            // GnuTLS verifies certificates on this thread, and needs more stack than our code.
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

    /// The longest waits of the thread; zero if it is not watched.
    var longestWaits: SinkWaits { facts.longestWaits ?? SinkWaits(opening: .zero, turn: .zero) }

    /// Sends the rest of the log until `deadline`, then unpublishes and closes.
    ///
    /// Call it after `PacketLog.end`. Returns at once. A destination that waits for its next attempt makes it at once,
    /// and further attempts until `deadline`.
    package func stop(deadline: MediaTime) {
        state.withLock { state in
            state.stopDeadline = min(deadline, state.stopDeadline ?? deadline)
            state.control?.limit(to: deadline)
        }
        wake()
    }

    /// Makes a destination that waits for its next attempt try now; otherwise has no effect. Returns at once.
    package func retryNow() { retry.withLock { $0 }?.signal() }

    /// Takes back packets of earlier epochs. Once this returns, none of them is sent, except those decoded up to
    /// `keptUntil`. If such bytes wait in the kernel, the connection is dropped. If they are on their way, the
    /// destination's thread watches them until they have arrived.
    ///
    /// - Returns: the newest presentation time that had been sent by then, in whole or in part.
    package func takeBack(before epoch: CurtainEpoch, keeping keptUntil: MediaTime? = nil) -> MediaTime? {
        defer { if gate.isAwaiting { cursor.wake() } }
        return gate.raise(to: epoch, keeping: keptUntil)
    }

    private func wake() {
        cursor.wake()
        retryNow()
    }

    /// Ends the stream after the packets sent so far, until `deadline`. For a destination that is removed while the
    /// broadcast continues. Returns at once.
    package func leave(deadline: MediaTime) {
        state.withLock { $0.isLeaving = true }
        stop(deadline: deadline)
    }

    /// Drops the connection immediately. Returns at once.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.control?.cancel()
        }
        wake()
    }

    /// Waits for the thread's end, after `stop` or `cancel`.
    package func join() { state.withLock { $0.thread }?.join() }

    /// Like `join()`, but at most until `deadline`. Returns false if the thread hangs, for example in a write to a
    /// disk. Such a thread is cancelled, and ends when the disk answers.
    package func join(until deadline: MediaTime) -> Bool {
        let end = clock.kernelDeadline(deadline)
        guard let thread = state.withLock({ $0.thread }), !thread.join(until: end) else { return true }
        cancel()
        return false
    }

    /// Whether the thread is about to end or has ended, so that `join` hardly waits.
    package var hasEnded: Bool { state.withLock { [.stopped, .failed].contains($0.snapshot.state) } }

    /// The state of the link; cheaper than `snapshot`.
    package var link: LinkReport { state.withLock { $0.snapshot.link } }

    package var snapshot: DestinationSnapshot {
        let (known, refused) = state.withLock { state in
            var snapshot = state.snapshot
            snapshot.latency = state.latency.summary
            snapshot.lastPTS = gate.lastPTS
            return (snapshot, state.refused)
        }
        var snapshot = known
        snapshot.drops = cursor.drops
        for track in Track.allCases { snapshot.drops[track][.takenBack] += refused[track].takenBack }
        snapshot.backlog = cursor.backlog
        snapshot.offeredPackets = log.statistics.written - writtenBefore
        return snapshot
    }

    /// The destination in messages: "main" (rtmp://host/app).
    package var title: String { "\"\(settings.name)\" (\(facts.location))" }
}
