internal import Buffering
internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// The destinations of one broadcast, which come and go while it is live. Any thread.
final class DestinationSet: Sendable {
    private struct State {
        var members: [Destination] = []
        /// Threads are numbered; a number is not used again.
        var started = 0
        var isClosed = false
        /// Those that were removed, until their threads have ended.
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

    /// Of those that were removed and have not ended yet.
    var leavingNames: [String] { state.withLock { $0.leaving }.filter { !$0.hasEnded }.map(\.settings.name) }

    func forEachWorkMark(_ body: (WorkMark) -> Void) {
        let (members, leaving) = state.withLock { ($0.members, $0.leaving) }
        for member in members { member.work.map(body) }
        for member in leaving { member.work.map(body) }
    }

    /// Starts one more, which begins with the next keyframe; does nothing once the broadcast is closing.
    func add(_ settings: DestinationSettings) throws(WorkerFailure) {
        let onEvent = onEvent
        joinThoseThatLeft()
        try state.withLock { state throws(WorkerFailure) in
            guard !state.isClosed else { return }
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

    /// Ends one in order until `deadline` (monotonic clock), while the others go on; returns at once.
    func remove(_ name: String, deadline: MediaTime) {
        joinThoseThatLeft()
        state.withLock { state in
            guard let index = state.members.firstIndex(where: { $0.settings.name == name }) else { return }
            let found = state.members.remove(at: index)
            found.leave(deadline: deadline)
            state.leaving.append(found)
        }
    }

    /// A thread that has ended keeps its stack until it is joined.
    private func joinThoseThatLeft() {
        let ended = state.withLock { state in
            let (ended, leaving) = (state.leaving.filter(\.hasEnded), state.leaving.filter { !$0.hasEnded })
            state.leaving = leaving
            return ended
        }
        for destination in ended { destination.join() }
    }

    /// Those that wait for their next attempt make it now: the one of that name, or all.
    func retry(_ name: String?) {
        for member in state.withLock({ $0.members }) where name == nil || member.settings.name == name {
            member.retryNow()
        }
    }

    /// Nothing of earlier epochs goes out any more, but what was decoded up to `keptUntil`. Returns the newest
    /// presentation time of what had gone out to each.
    func takeBack(before epoch: CurtainEpoch, keeping keptUntil: MediaTime?) -> [(name: String, lastPTS: MediaTime?)] {
        let (members, leaving) = state.withLock { ($0.members, $0.leaving) }
        return (members + leaving).map {
            ($0.settings.name, $0.takeBack(before: epoch, keeping: keptUntil))
        }
    }

    /// Once a second: says so where a disk hangs on which a destination has a file.
    func lookAtFiles() {
        for member in state.withLock({ $0.members }) { member.lookAtFiles() }
    }

    /// What the links do, of destinations that a broadcast adapts to. Without an array: it is asked ten times a second.
    func forEachLink(_ body: (String, LinkReport) -> Void) {
        for member in state.withLock({ $0.members }) where member.settings.isAdaptedTo {
            body(member.settings.name, member.link)
        }
    }

    func contains(where isWanted: (DestinationSnapshot) -> Bool) -> Bool {
        state.withLock { $0.members }.contains { isWanted($0.snapshot) }
    }

    /// What the client is told of; counts are of those that are meant to take packets.
    func adviceFigures(at now: MediaTime) -> ClientAdvice.Destinations {
        var figures = ClientAdvice.Destinations()
        for member in state.withLock({ $0.members }) { figures.note(member.snapshot, at: now) }
        return figures
    }

    /// The duration of `[DestinationSnapshot].backlog`, without an array: it is asked every second.
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

    /// What a destination's end may take beyond its deadline, before its thread is left to itself.
    static let longestEnd = MediaTime.seconds(2)

    /// After the log's end: every destination sends what is left until `deadline`, unpublishes and closes. Blocks, but
    /// for a disk that hangs only for `longestEnd`.
    ///
    /// - Returns: whether every thread has ended.
    func close(deadline: MediaTime) -> Bool {
        let (members, leaving) = close()
        for member in members { member.stop(deadline: deadline) }
        let end = max(deadline, MonotonicClock().now()) + Self.longestEnd
        var hasEnded = true
        for member in members + leaving where !member.join(until: end) {
            hasEnded = false
            onEvent(member.settings.name, .warning(member.lateEnd))
        }
        return hasEnded
    }

    /// Gives everything up at once. Blocks for as long as that takes.
    func cancel() {
        let (members, leaving) = close()
        for member in members + leaving { member.cancel() }
        for member in members + leaving { member.join() }
    }

    private func close() -> (members: [Destination], leaving: [Destination]) {
        state.withLock { state in
            state.isClosed = true
            return (state.members, state.leaving)
        }
    }
}
