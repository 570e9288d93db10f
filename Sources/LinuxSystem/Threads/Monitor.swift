package import MediaCore

/// State behind a lock, with a condition to wait on. All other code locks through it.
///
/// Any thread may call. Each predicate must include the caller's stop flag.
@safe package final class Monitor<State>: @unchecked Sendable /* state is touched under the lock only */ {
    private let condition = WaitCondition()
    /// The byte gives an empty state an address inside this object. Without it, ThreadSanitizer confuses the state with
    /// the object that follows in memory.
    private var guarded: (state: State, UInt8)

    package init(_ state: sending State) { guarded = (state, 0) }

    /// Runs `body` with exclusive access to the state.
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        condition.lock()
        defer { condition.unlock() }
        return try body(&guarded.state)
    }

    /// Runs `body`, then wakes all waiters to check their predicates. It wakes them after the unlock, because a waiter
    /// that finds the lock taken sleeps again, which costs two system calls.
    package func signal<Result>(_ body: (inout State) -> Result) -> Result {
        condition.lock()
        defer {
            condition.unlock()
            condition.wake()
        }
        return body(&guarded.state)
    }

    /// Waits until `body` returns a value, or until `deadline` by `clock`. Nil means that the deadline passed.
    package func wait<Result>(
        until deadline: MediaTime? = nil, by clock: any TimeSource = MonotonicClock(),
        _ body: (inout State) -> Result?
    ) -> Result? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result = body(&guarded.state) { return result }
            guard let deadline else {
                condition.wait()
                continue
            }
            if !clock.wait(on: condition, until: deadline) { return body(&guarded.state) }
        }
    }
}
