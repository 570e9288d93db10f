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
        /// Threads that wait for destinations that were removed.
        var leaving: [WorkerThread] = []
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

    /// Starts one more; it begins with the next keyframe.
    func add(_ settings: DestinationSettings) throws(WorkerFailure) {
        let onEvent = onEvent
        let isTaken = state.withLock { state in
            state.isClosed || state.members.contains { $0.settings.name == settings.name }
        }
        guard !isTaken else { throw WorkerFailure(sentence: "there is a destination \"\(settings.name)\" already") }
        let index = state.withLock { state in
            defer { state.started += 1 }
            return state.started
        }
        let destination = Destination(
            index: index, settings: settings, log: log, format: format, clock: clock,
            onEvent: { onEvent(settings.name, $0) })
        do { try destination.start() } catch {
            throw WorkerFailure(sentence: "destination \"\(settings.name)\" has no thread or descriptor: \(error)")
        }
        state.withLock { $0.members.append(destination) }
    }

    /// Ends one in order until `deadline` (monotonic clock), while the others go on; returns at once.
    ///
    /// - Returns: false where there is none of that name.
    func remove(_ name: String, deadline: MediaTime) -> Bool {
        let found = state.withLock { state -> Destination? in
            guard let index = state.members.firstIndex(where: { $0.settings.name == name }) else { return nil }
            return state.members.remove(at: index)
        }
        guard let found else { return false }
        found.leave(deadline: deadline)
        do {
            let thread = try WorkerThread(name: "up-leave") { found.join() }
            state.withLock { $0.leaving.append(thread) }
        } catch {
            found.join()
        }
        return true
    }

    /// Those that wait for their next attempt make it now: the one of that name, or all.
    func retry(_ name: String?) {
        for member in state.withLock({ $0.members }) where name == nil || member.settings.name == name {
            member.retryNow()
        }
    }

    /// What the links do, of destinations that a broadcast adapts to.
    var links: [(name: String, report: LinkReport)] {
        state.withLock { $0.members }.filter(\.settings.isAdaptedTo).map { ($0.settings.name, $0.link) }
    }

    /// After the log's end: every destination sends what is left until `deadline`, unpublishes and closes. Blocks.
    func close(deadline: MediaTime) {
        let (members, leaving) = state.withLock { state in
            state.isClosed = true
            return (state.members, state.leaving)
        }
        for member in members { member.stop(deadline: deadline) }
        for member in members { member.join() }
        for thread in leaving { thread.join() }
    }

    /// Gives everything up at once. Blocks for as long as that takes.
    func cancel() {
        let members = state.withLock { state in
            state.isClosed = true
            return state.members
        }
        for member in members { member.cancel() }
        for member in members { member.join() }
    }
}
