internal import ControlProtocol
internal import LinuxSystem

/// Passes reload requests of the control server to the main thread, and keeps their outcome. Any thread asks and polls;
/// the main thread reloads. Nobody waits.
final class ReloadDesk: Sendable {
    private struct State {
        /// The number of requests, of those that a reload has taken up, and of those that are answered.
        var asked: UInt64 = 0
        var begun: UInt64 = 0
        var ended: UInt64 = 0
        var outcome: Result<ReloadAnswer, CommandRefusal> = .success(ReloadAnswer())
    }
    private let state = Monitor(State())
    /// Becomes readable when a reload is wanted.
    let wakeUp: EventDescriptor

    init() throws(Errno) { wakeUp = try EventDescriptor() }

    /// Asks for a reload. Returns the number for `outcome`.
    func ask() -> UInt64 {
        defer { wakeUp.signal() }
        return state.withLock { state in
            state.asked += 1
            return state.asked
        }
    }

    /// The outcome of the last reload that began after request `number`; nil until it has ended.
    func outcome(of number: UInt64) -> Result<ReloadAnswer, CommandRefusal>? {
        state.withLock { $0.ended >= number ? $0.outcome : nil }
    }

    /// Whether a reload is to begin, for all requests until now. Main thread.
    func take() -> Bool {
        wakeUp.clear()
        return state.withLock { state in
            defer { state.begun = state.asked }
            return state.asked > state.begun
        }
    }

    /// Answers the requests that `take` has taken. Main thread.
    func end(_ outcome: Result<ReloadAnswer, CommandRefusal>) {
        state.withLock { ($0.ended, $0.outcome) = ($0.begun, outcome) }
    }
}
