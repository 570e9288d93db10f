internal import LinuxSystem
internal import Privacy

/// The state of the daemon's only broadcast, with the data that is valid in each state.
enum Lifecycle {
    /// No broadcast. `closer` is the thread that closed the last one, until it is joined.
    case idle(closer: WorkerThread?)
    /// A client has sent `started`; its broadcast is being made.
    case starting(Attempt)
    case running(Running)
    /// The broadcast drains. `closer` is nil until its thread runs, or if the ingest thread closes.
    case closing(Run, closer: WorkerThread?)

    struct Attempt {
        /// Counts broadcasts from 1. A broadcast that cannot start does not use up its number.
        let number: UInt64
        /// Something has failed, and the broadcast must end.
        var hasFailed = false
    }

    struct Run {
        let number: UInt64
        let broadcast: Broadcast
        let memory: MemoryWatch
        let advisor: ClientAdvisor
        let rate = VideoRate()
        /// The peer of the capture socket.
        let client: PrivacyActor
    }

    /// A broadcast whose client is connected.
    struct Running {
        let run: Run
        /// By the client.
        var isPausedByClient = false
        /// By an operator.
        var isPaused = false
        var hasFailed = false
    }

    /// The broadcast from its start to its last byte.
    var run: Run? {
        switch self {
        case .running(let running): running.run
        case .closing(let run, _): run
        case .idle, .starting: nil
        }
    }

    /// The broadcast while its client is connected.
    var running: Run? { if case .running(let running) = self { running.run } else { nil } }

    /// The number of the broadcast that is starting, running or closing.
    var number: UInt64? { if case .starting(let attempt) = self { attempt.number } else { run?.number } }

    /// Enters `running` with a broadcast that has been made, and that may already have failed.
    mutating func begin(_ run: Run) {
        var running = Running(run: run)
        if case .starting(let attempt) = self { running.hasFailed = attempt.hasFailed }
        self = .running(running)
    }

    /// Notes that the broadcast has failed. Returns true for the first failure, which ends the broadcast. Later
    /// failures, and those of a broadcast that is closing, have no effect.
    mutating func fail() -> Bool {
        switch self {
        case .starting(var attempt):
            defer { self = .starting(attempt) }
            defer { attempt.hasFailed = true }
            return !attempt.hasFailed
        case .running(var running):
            defer { self = .running(running) }
            defer { running.hasFailed = true }
            return !running.hasFailed
        case .idle, .closing: return false
        }
    }

    /// Changes the broadcast while its client is connected; else returns nil.
    mutating func update<Result>(_ change: (inout Running) -> Result) -> Result? {
        guard case .running(var running) = self else { return nil }
        defer { self = .running(running) }
        return change(&running)
    }

    /// Keeps the thread that closes the broadcast, which may already have closed it.
    mutating func note(closer: WorkerThread) {
        switch self {
        case .closing(let run, _): self = .closing(run, closer: closer)
        case .idle: self = .idle(closer: closer)
        case .starting, .running: closer.abandon()
        }
    }

    /// Takes the closer out. The caller joins it.
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

/// The lifecycle behind a lock. The host changes it; all threads read it.
final class CurrentBroadcast: Sendable {
    struct State {
        var lifecycle = Lifecycle.idle(closer: nil)
        /// The number of broadcasts since the daemon started.
        var count: UInt64 = 0
        /// The daemon is stopping.
        var isStopping = false
    }
    let state = Monitor(State())

    /// The broadcast from its start to its last byte.
    var run: Lifecycle.Run? { state.withLock { $0.lifecycle.run } }
    var broadcast: Broadcast? { run?.broadcast }
    /// The broadcast while its client is connected.
    var running: Lifecycle.Run? { state.withLock { $0.lifecycle.running } }
    var number: UInt64? { state.withLock { $0.lifecycle.number } }
    var isStopping: Bool { state.withLock { $0.isStopping } }
}
