internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// The destinations of one broadcast. They can be added and removed while it is live. Any thread.
final class DestinationSet: Sendable {
    private struct State {
        var members: [Destination] = []
        /// The number of threads started so far. Numbers are not reused.
        var started = 0
        var isClosed = false
        /// Removed destinations whose threads have not ended yet.
        var leaving: [Destination] = []
    }

    private let log: PacketLog
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let onEvent: @Sendable (String, DestinationEvent) -> Void
    private let state = Monitor(State())

    /// - Parameter onEvent: called with the destination's name on its thread; it must not wait for the destination.
    init(
        log: PacketLog, format: BroadcastFormat, clock: any TimeSource,
        onEvent: @escaping @Sendable (String, DestinationEvent) -> Void
    ) {
        self.log = log
        self.format = format
        self.clock = clock
        self.onEvent = onEvent
    }

    var snapshots: [DestinationSnapshot] { state.withLock { $0.members }.map(\.snapshot) }

    /// Names of removed destinations that have not ended yet.
    var leavingNames: [String] { state.withLock { $0.leaving }.filter { !$0.hasEnded }.map(\.settings.name) }

    func forEachWorkMark(_ body: (WorkMark) -> Void) {
        let (members, leaving) = state.withLock { ($0.members, $0.leaving) }
        for member in members { member.work.map(body) }
        for member in leaving { member.work.map(body) }
    }

    /// Starts one more destination, which begins with the next keyframe. Has no effect once the broadcast is closing,
    /// or if there is a destination of that name.
    func add(_ settings: DestinationSettings) throws(WorkerFailure) {
        let onEvent = onEvent
        joinThoseThatLeft()
        try state.withLock { state throws(WorkerFailure) in
            guard !state.isClosed, !state.members.contains(where: { $0.settings.name == settings.name }) else { return }
            let destination = Destination(
                index: state.started, settings: settings, log: log, format: format, clock: clock,
                onEvent: { onEvent(settings.name, $0) })
            do { try destination.start() } catch {
                throw WorkerFailure(sentence: "destination \"\(settings.name)\" has no thread or descriptor: \(error)")
            }
            state.started += 1
            state.members.append(destination)
        }
    }

    /// Ends one destination in order until `deadline`, while the others continue. Returns at once.
    func remove(_ name: String, deadline: MediaTime) {
        joinThoseThatLeft()
        state.withLock { state in
            guard let index = state.members.firstIndex(where: { $0.settings.name == name }) else { return }
            let found = state.members.remove(at: index)
            found.leave(deadline: deadline)
            state.leaving.append(found)
        }
    }

    /// Joins threads that have ended, because each keeps its stack until then.
    private func joinThoseThatLeft() {
        let ended = state.withLock { state in
            let (ended, leaving) = (state.leaving.filter(\.hasEnded), state.leaving.filter { !$0.hasEnded })
            state.leaving = leaving
            return ended
        }
        for destination in ended { destination.join() }
    }

    /// Makes destinations that wait for their next attempt try now: the one of that name, or all.
    func retry(_ name: String?) {
        for member in state.withLock({ $0.members }) where name == nil || member.settings.name == name {
            member.retryNow()
        }
    }

    /// Stops all packets of earlier epochs, except those with a decoding time up to `keptUntil`. Returns, for each
    /// destination, the newest presentation time that had gone out.
    func takeBack(before epoch: CurtainEpoch, keeping keptUntil: MediaTime?) -> [(name: String, lastPTS: MediaTime?)] {
        let (members, leaving) = state.withLock { ($0.members, $0.leaving) }
        return (members + leaving).map {
            ($0.settings.name, $0.takeBack(before: epoch, keeping: keptUntil))
        }
    }

    /// Reports destinations whose files are on a disk that hangs. Call it once a second.
    func lookAtFiles() {
        for member in state.withLock({ $0.members }) { member.lookAtFiles() }
    }

    /// Visits the link reports of the destinations that a broadcast adapts to. It allocates no array, because it is
    /// called ten times a second.
    func forEachLink(_ body: (String, LinkReport) -> Void) {
        for member in state.withLock({ $0.members }) where member.settings.isAdaptedTo {
            body(member.settings.name, member.link)
        }
    }

    /// Whether a broadcast has destinations that it does not adapt to.
    func hasUnadapted() -> Bool { state.withLock { $0.members }.contains { !$0.settings.isAdaptedTo } }

    func forEachSnapshot(_ body: (DestinationSnapshot) -> Void) {
        for member in state.withLock({ $0.members }) { body(member.snapshot) }
    }

    func contains(where isWanted: (DestinationSnapshot) -> Bool) -> Bool {
        state.withLock { $0.members }.contains { isWanted($0.snapshot) }
    }

    /// The figures that the client is told. Counts cover the destinations that should take packets.
    func adviceFigures(at now: MediaTime) -> ClientAdvice.Destinations {
        var figures = ClientAdvice.Destinations()
        for member in state.withLock({ $0.members }) { figures.note(member.snapshot, at: now) }
        return figures
    }

    /// The duration of `[DestinationSnapshot].backlog`. It allocates no array, because it is called every second.
    var backlogDuration: MediaTime {
        var (ofAll, ofTaking) = (MediaTime.zero, MediaTime?.none)
        for member in state.withLock({ $0.members }) {
            let snapshot = member.snapshot
            let duration = snapshot.backlog.duration
            ofAll = max(ofAll, duration)
            if snapshot.takesPackets { ofTaking = max(ofTaking ?? .zero, duration) }
        }
        return ofTaking ?? ofAll
    }

    /// How long a destination may exceed its deadline at the end, before its thread is abandoned.
    static let longestEnd = MediaTime.seconds(2)

    /// After the log's end: every destination sends the rest until `deadline`, unpublishes and closes. Blocks; a disk
    /// that hangs blocks it for at most `longestEnd`.
    ///
    /// - Returns: whether every thread has ended.
    func close(deadline: MediaTime) -> Bool {
        let (members, leaving) = close()
        for member in members { member.stop(deadline: deadline) }
        let end = max(deadline, clock.now()) + Self.longestEnd
        var hasEnded = true
        for member in members + leaving where !member.join(until: end) {
            hasEnded = false
            onEvent(member.settings.name, .warning(member.lateEnd))
        }
        return hasEnded
    }

    /// Cancels all destinations at once. Blocks until their threads have ended; a disk that hangs blocks it for at most
    /// `longestEnd`.
    func cancel() {
        let (members, leaving) = close()
        for member in members + leaving { member.cancel() }
        let end = clock.now() + Self.longestEnd
        for member in members + leaving where !member.join(until: end) {
            onEvent(member.settings.name, .warning(member.lateEnd))
        }
    }

    private func close() -> (members: [Destination], leaving: [Destination]) {
        state.withLock { state in
            state.isClosed = true
            return (state.members, state.leaving)
        }
    }
}
