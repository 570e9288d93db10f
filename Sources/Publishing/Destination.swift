package import Buffering
internal import Glibc
package import LinuxSystem
package import MediaCore

/// One destination of a broadcast: a cursor on the packet log, a thread, and a connection or a file.
///
/// `start`, then `stop` or `cancel`, then `join`, from any thread; what happens is told by events (on the
/// destination's thread) and snapshots. A slow or dead destination costs the others nothing.
package final class Destination: Sendable {
    /// How long the reader waits for a packet before it looks after the server; bounds the answer to a ping.
    static let servicePeriod = MediaTime.milliseconds(200)
    /// For unpublishing and closing in order.
    static let finishTimeout = MediaTime.milliseconds(500)
    static let stackBytes = 512 * 1024

    private struct State {
        var snapshot: DestinationSnapshot
        var thread: WorkerThread?
        /// Nil until `start`.
        var control: PublishControl?
        /// Nothing is drained beyond this; nil until `stop`.
        var stopDeadline: MediaTime?
        var isCancelled = false
    }

    private let index: Int
    private let settings: DestinationSettings
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let onEvent: @Sendable (DestinationEvent) -> Void
    private let cursor: PacketCursor
    private let state: Monitor<State>

    /// - Parameters:
    ///   - index: names the thread, "up-pub-<index>".
    ///   - onEvent: called on the destination's thread; it must not wait for the destination.
    package init(
        index: Int, settings: DestinationSettings, log: PacketLog, format: BroadcastFormat, clock: any TimeSource,
        onEvent: @escaping @Sendable (DestinationEvent) -> Void
    ) {
        self.index = index
        self.settings = settings
        self.format = format
        self.clock = clock
        self.onEvent = onEvent
        cursor = log.makeCursor(policy: settings.cursorPolicy)
        let kind =
            switch settings.kind {
            case .rtmp(let rtmp): rtmp.endpoint.isSecure ? "rtmps" : "rtmp"
            case .flvFile: "flv-file"
            }
        state = Monitor(
            State(
                snapshot: DestinationSnapshot(
                    name: settings.name, kind: kind, location: settings.location, since: clock.now())))
    }

    /// Starts the thread, which connects at once; call it once, and `join` afterwards whatever happens.
    ///
    /// - Throws: where no thread or no descriptor is to be had.
    package func start() throws(Errno) {
        let control = try PublishControl()
        try state.withLock { state throws(Errno) in
            precondition(state.thread == nil, "a destination starts once")
            state.control = control
            if let deadline = state.stopDeadline { control.limit(to: deadline) }
            if state.isCancelled { control.cancel() }
            // Certificates are verified on this thread: their code uses more stack than ours.
            state.thread = try WorkerThread(name: "up-pub-\(index)", stackBytes: Self.stackBytes) { self.run(control) }
        }
    }

    /// Sends what the log still holds until `deadline` (monotonic clock), then unpublishes and closes in order.
    ///
    /// To be called after `PacketLog.end`; returns at once. Where `deadline` has passed before there was a
    /// connection, none is made.
    package func stop(deadline: MediaTime) {
        state.withLock { state in
            state.stopDeadline = min(deadline, state.stopDeadline ?? deadline)
            state.control?.limit(to: deadline)
        }
        cursor.wake()
    }

    /// Drops the connection at once, whatever is going on; returns at once.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.control?.cancel()
        }
        cursor.wake()
    }

    /// Waits for the thread's end, which `stop` or `cancel` brings about.
    package func join() { state.withLock { $0.thread }?.join() }

    package var snapshot: DestinationSnapshot {
        var snapshot = state.withLock { $0.snapshot }
        snapshot.drops = cursor.drops
        snapshot.backlog = cursor.backlog
        return snapshot
    }

    // MARK: The thread

    private func run(_ control: PublishControl) {
        Self.blockBrokenPipeSignal()
        var buffer = PacketBuffer(
            limit: settings.maximumPacketBytes + RTMPPublisher.headroom + FLVFileWriter.tailroom,
            tailroom: FLVFileWriter.tailroom)
        do {
            switch settings.kind {
            case .rtmp(let rtmp):
                try runOnce(
                    RTMPPublisher(
                        settings: rtmp, format: format, clock: clock, control: control,
                        onNotice: { self.onEvent(.notice(self.title + ": " + $0)) }),
                    &buffer)
            case .flvFile(let file):
                try runOnce(FLVFileWriter(settings: file, format: format, clock: clock, control: control), &buffer)
            }
            enter(.stopped)
        } catch {
            // Being cancelled, or out of time while stopping, is what was asked for.
            guard error.kind != .cancelled else { return enter(.stopped) }
            var error = error
            error.destination = title
            error.consequence = "nothing more is published there"
            state.withLock { $0.snapshot.lastError = error.description }
            onEvent(.failed(error))
            enter(.failed)
        }
    }

    /// One attempt, from connecting to the end in order.
    private func runOnce(_ sink: some PublishingSink, _ buffer: inout PacketBuffer) throws(PublishError) {
        enter(.connecting)
        do {
            try sink.open()
            enter(.publishing)
            let isDrained = try pump(sink, &buffer)
            note(sink.progress)
            try sink.finish(until: clock.now() + Self.finishTimeout)
            state.withLock { $0.snapshot.isDrained = isDrained }
        } catch {
            note(sink.progress)
            sink.abort()
            throw error
        }
    }

    /// Moves packets until the log has ended (true) or the stop's deadline has passed (false).
    private func pump(_ sink: some PublishingSink, _ buffer: inout PacketBuffer) throws(PublishError) -> Bool {
        var isStopping = false
        while true {
            let now = clock.now()
            let (isCancelled, stopDeadline) = state.withLock { ($0.isCancelled, $0.stopDeadline) }
            if isCancelled { throw PublishError(.cancelled, "publishing was cancelled") }
            if let stopDeadline, now >= stopDeadline { return false }
            if stopDeadline != nil, !isStopping {
                isStopping = true
                enter(.stopping)
            }
            let wait = min(now + Self.servicePeriod, stopDeadline ?? now + Self.servicePeriod)
            switch cursor.next(into: &buffer, headroom: sink.headroom, until: wait) {
            case .packet(let info, let byteCount):
                try sink.write(info, &buffer)
                count(info, byteCount)
            case .timeout, .woken: break
            case .ended:
                if !isStopping { enter(.stopping) }
                return true
            }
            try sink.service()
            note(sink.progress)
        }
    }

    /// "main" (rtmp://host/app): how messages call the destination.
    private var title: String { "\"\(settings.name)\" (\(settings.location))" }

    private func enter(_ new: DestinationState) {
        state.withLock { state in
            state.snapshot.state = new
            state.snapshot.since = clock.now()
        }
        onEvent(.state(new))
    }

    private func note(_ progress: SinkProgress) {
        state.withLock { state in
            state.snapshot.location = progress.location
            state.snapshot.bytesSent = progress.bytesSent
            state.snapshot.bytesAcknowledged = progress.bytesAcknowledged
            state.snapshot.tlsProtocol = progress.tlsProtocol
        }
    }

    private func count(_ info: PacketInfo, _ byteCount: Int) {
        state.withLock { state in
            state.snapshot.lastPTS = info.pts
            switch info.track {
            case .video: state.snapshot.video.add(byteCount)
            case .audio: state.snapshot.audio.add(byteCount)
            }
        }
    }

    /// A pipe that nobody reads any more must be an error here, not the process's end.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
