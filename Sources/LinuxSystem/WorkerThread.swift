internal import CLinux
internal import Glibc
package import MediaCore

/// A named thread that must be joined. Its owner first stops what the thread waits for, then joins it.
package final class WorkerThread: @unchecked Sendable /* `handle` is written once at start and read at join */ {
    private var handle = pthread_t()
    private let joined = Monitor(false)
    private let name: String

    /// Starts `body` on a new thread.
    ///
    /// - Parameters:
    ///   - name: the name in `top -H`, at most 15 bytes.
    ///   - stackBytes: reserved address space; pages count only once they are touched.
    package init(name: String, stackBytes: Int = 256 * 1024, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        precondition(name.utf8.count <= 15, "Linux cuts thread names at 15 bytes")
        self.name = name
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        let result = unsafe pthread_create(
            &handle, &attributes,
            { argument in
                let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue()
                _ = unsafe body.name.withCString { unsafe upcast_set_thread_name($0) }
                body.run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            joined.withLock { $0 = true }
            throw Errno(result)
        }
    }

    /// Waits for the thread's end; the second call does nothing. On the thread itself it does not wait: the thread is
    /// let go, and ends by itself.
    package func join() {
        guard takeJoin() else { return }
        if pthread_equal(handle, pthread_self()) != 0 { pthread_detach(handle) } else { pthread_join(handle, nil) }
    }

    /// The same until `deadline` (CLOCK_MONOTONIC) at most; false where the thread has not ended by then, and is let go
    /// as by `abandon`.
    package func join(until deadline: MediaTime) -> Bool {
        guard takeJoin() else { return true }
        let nanoseconds = max(0, deadline.nanoseconds)
        let (seconds, rest) = (Int(nanoseconds / 1_000_000_000), Int(nanoseconds % 1_000_000_000))
        if upcast_join_until(handle, seconds, rest) == 0 { return true }
        pthread_detach(handle)
        return false
    }

    /// In place of `join`, where the thread hangs in a call that nobody can end: it is let go, and ends by itself, or
    /// with the process.
    package func abandon() {
        if takeJoin() { pthread_detach(handle) }
    }

    /// Claims the join. Returns false if the thread is already joined.
    private func takeJoin() -> Bool {
        joined.withLock { done in
            defer { done = true }
            return !done
        }
    }

    deinit { precondition(joined.withLock { $0 }, "thread \(name) was not joined") }
}

private final class ThreadBody {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}
