internal import CLinux
internal import Glibc
internal import MediaCore

/// A mutex with a condition, which a `Monitor` waits on and a `TimeSource` may wake.
///
/// Any thread may call. (Synchronization.Mutex has no condition variable, and ThreadSanitizer does not support it.)
@safe package final class WaitCondition: @unchecked Sendable /* the pthread functions are made for any thread */ {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
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

    package func lock() { unsafe pthread_mutex_lock(mutex) }
    package func unlock() { unsafe pthread_mutex_unlock(mutex) }

    /// Wakes all waiters. The caller holds the lock or has just given it up.
    package func wake() { unsafe pthread_cond_broadcast(condition) }

    /// Gives up the lock and waits for `wake`; holds the lock again when it returns.
    package func wait() { unsafe pthread_cond_wait(condition, mutex) }

    /// Like `wait()`, at most until `deadline` (CLOCK_MONOTONIC). Returns false if the deadline passed.
    func wait(until deadline: MediaTime) -> Bool {
        let nanoseconds = max(0, deadline.nanoseconds)
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        return unsafe pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    }
}
