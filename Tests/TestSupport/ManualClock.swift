package import LinuxSystem
package import MediaCore

/// A clock that stands still until a test turns it, which wakes the threads that wait by it.
package final class ManualClock: TimeSource {
    private struct State {
        var now: MediaTime
        /// The conditions that threads wait on, one for each thread.
        var waiters: [WaitCondition] = []
        var waits = 0
    }
    private let state: Monitor<State>

    package init(_ start: MediaTime = .zero) { state = Monitor(State(now: start)) }

    package func now() -> MediaTime { state.withLock { $0.now } }
    package func advance(by span: MediaTime) { turn { $0 += span } }
    package func set(_ now: MediaTime) { turn { $0 = now } }

    /// How many threads wait.
    package var waiters: Int { state.withLock { $0.waiters.count } }
    /// How often threads have begun to wait.
    package var waits: Int { state.withLock { $0.waits } }

    private func turn(_ change: (inout MediaTime) -> Void) {
        let waiters = state.withLock { state in
            change(&state.now)
            // This is a separate copy, because ThreadSanitizer does not see how arrays share their memory.
            return state.waiters.map(\.self)
        }
        for waiter in waiters {
            // A thread that has read the old time either waits by now, or holds this lock until it does.
            waiter.lock()
            waiter.unlock()
            waiter.wake()
        }
    }

    package func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool {
        let waits = state.withLock { state in
            guard state.now < deadline else { return false }
            state.waiters.append(condition)
            state.waits += 1
            return true
        }
        guard waits else { return false }
        condition.wait()
        return state.withLock { state in
            if let index = state.waiters.firstIndex(where: { $0 === condition }) { state.waiters.remove(at: index) }
            return state.now < deadline
        }
    }
}
