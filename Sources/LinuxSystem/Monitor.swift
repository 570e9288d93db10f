internal import CLinux
internal import Glibc
package import MediaCore

/// State behind a lock, with a condition to wait on. All pthread locks are here.
///
/// Any thread may call. Deadlines are on CLOCK_MONOTONIC, and each predicate must include the caller's stop flag.
/// (Synchronization.Mutex has no condition variable, and ThreadSanitizer does not support it.)
@safe package final class Monitor<State>: @unchecked Sendable /* state is touched under the mutex only */ {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        let locked = unsafe pthread_mutex_init(mutex, nil)
        let conditioned = unsafe upcast_cond_init_monotonic(condition)
        precondition(locked == 0 && conditioned == 0, "cannot create a lock")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state.
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Runs `body`, then wakes all waiters to check their predicates. It wakes them after the unlock, because a waiter
    /// that finds the lock taken sleeps again, which costs two system calls.
    package func signal<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_mutex_unlock(mutex)
            unsafe pthread_cond_broadcast(condition)
        }
        return body(&state)
    }

    /// Waits until `body` returns a value, or until `deadline` (CLOCK_MONOTONIC). Nil means that the deadline passed.
    package func wait<Result>(until deadline: MediaTime? = nil, _ body: (inout State) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            guard let deadline else {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            let nanoseconds = max(0, deadline.nanoseconds)
            var time = timespec(
                tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
            if unsafe pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&state) }
        }
    }
}
