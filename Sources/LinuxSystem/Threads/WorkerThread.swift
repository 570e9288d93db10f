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
    ///   - stackBytes: reserved address space; only touched pages use memory.
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

    /// Waits for the thread's end. A second call does nothing. On the thread itself, it detaches the thread and does
    /// not wait.
    package func join() {
        guard takeJoin() else { return }
        if pthread_equal(handle, pthread_self()) != 0 { pthread_detach(handle) } else { pthread_join(handle, nil) }
    }

    /// Like `join()`, but at most until `deadline` (CLOCK_MONOTONIC). If the thread has not ended by then, detaches it
    /// like `abandon` and returns false.
    package func join(until deadline: MediaTime) -> Bool {
        guard takeJoin() else { return true }
        let nanoseconds = max(0, deadline.nanoseconds)
        let (seconds, rest) = (Int(nanoseconds / 1_000_000_000), Int(nanoseconds % 1_000_000_000))
        if upcast_join_until(handle, seconds, rest) == 0 { return true }
        pthread_detach(handle)
        return false
    }

    /// Detaches a thread that hangs in a call that cannot be interrupted. Use it in place of `join`. The thread ends
    /// when the call returns, or with the process.
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
