internal import LinuxSystem
internal import Privacy

/// What the daemon does with its one broadcast, and the data that is valid meanwhile.
enum Lifecycle {
    /// No broadcast; the thread that closed the last one, until somebody has joined it.
    case idle(closer: WorkerThread?)
    /// A client has introduced itself; its broadcast is being made.
    case starting(Attempt)
    case running(Run)
    /// What is encoded is sent. The closer is nil where the ingest thread closes, or a moment before its thread runs.
    case closing(Run, closer: WorkerThread?)

    struct Attempt {
        /// Broadcasts of this daemon are numbered from 1; one that could not start leaves its number to the next.
        let number: UInt64
        /// Something has failed: the broadcast is to end.
        var hasFailed = false
    }

    struct Run {
        let number: UInt64
        let broadcast: Broadcast
        let memory: MemoryWatch
        let advisor: ClientAdvisor
        let rate = VideoRate()
        /// Who is at the other end of the capture socket.
        let client: PrivacyActor
        /// By the client.
        var isPausedByClient = false
        /// By an operator.
        var isPaused = false
        var hasFailed = false
    }

    /// From its start to its last byte.
    var run: Run? {
        switch self {
        case .running(let run), .closing(let run, _): run
        case .idle, .starting: nil
        }
    }

    /// While its client is there.
    var running: Run? { if case .running(let run) = self { run } else { nil } }

    /// The number of the broadcast that is starting, running or closing.
    var number: UInt64? { if case .starting(let attempt) = self { attempt.number } else { run?.number } }

    /// The broadcast has been made. It may have failed already.
    mutating func begin(_ run: Run) {
        var run = run
        if case .starting(let attempt) = self { run.hasFailed = attempt.hasFailed }
        self = .running(run)
    }

    /// Notes that the broadcast has failed. Returns whether that is news: the first failure ends the broadcast, and
    /// what fails after it, or while it is closed, does not matter.
    mutating func fail() -> Bool {
        switch self {
        case .starting(var attempt):
            defer { self = .starting(attempt) }
            defer { attempt.hasFailed = true }
            return !attempt.hasFailed
        case .running(var run):
            defer { self = .running(run) }
            defer { run.hasFailed = true }
            return !run.hasFailed
        case .idle, .closing: return false
        }
    }

    /// Changes the run while its client is there.
    mutating func update<Result>(_ change: (inout Run) -> Result) -> Result? {
        guard case .running(var run) = self else { return nil }
        defer { self = .running(run) }
        return change(&run)
    }

    /// The closer has been started; the broadcast may be closed by now.
    mutating func note(closer: WorkerThread) {
        switch self {
        case .closing(let run, _): self = .closing(run, closer: closer)
        case .idle: self = .idle(closer: closer)
        case .starting, .running: closer.abandon()
        }
    }

    /// Takes the closer, for whoever joins it.
    mutating func takeCloser() -> WorkerThread? {
        switch self {
        case .idle(let closer):
            self = .idle(closer: nil)
            return closer
        case .closing(let run, let closer):
            self = .closing(run, closer: nil)
            return closer
        case .starting, .running: return nil
        }
    }
}

/// The lifecycle, for every thread: the host moves it on, the others look.
final class CurrentBroadcast: Sendable {
    struct State {
        var lifecycle = Lifecycle.idle(closer: nil)
        /// Broadcasts that have begun since the daemon started.
        var count: UInt64 = 0
        /// The daemon has been told to stop.
        var isStopping = false
    }
    let state = Monitor(State())

    /// From its start to its last byte.
    var run: Lifecycle.Run? { state.withLock { $0.lifecycle.run } }
    var broadcast: Broadcast? { run?.broadcast }
    /// While its client is there.
    var running: Lifecycle.Run? { state.withLock { $0.lifecycle.running } }
    var number: UInt64? { state.withLock { $0.lifecycle.number } }
    var isStopping: Bool { state.withLock { $0.isStopping } }
}
