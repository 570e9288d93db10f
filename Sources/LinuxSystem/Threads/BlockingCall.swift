internal import Glibc

/// Lets a task wait for a blocking call. No thread of Swift's cooperative pool waits.
package enum BlockingCall {
    /// Runs `body` on its own thread, and returns its result.
    ///
    /// - Parameter name: the thread's name, at most 15 bytes.
    /// - Throws: if the system cannot start a thread; `body` has not run then.
    package static func run<Value: Sendable>(
        _ name: String, isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable () -> Value
    ) async throws(Errno) -> Value {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Errno>, Never>) in
            do throws(Errno) {
                let thread = try WorkerThread(name: name) {
                    WorkerThread.takeNoSignals()
                    continuation.resume(returning: .success(body()))
                }
                // Nobody joins the thread; the continuation waits for it.
                thread.abandon()
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }
}

extension WorkerThread {
    /// Blocks all signals on the calling thread. A library leaves signals to the application's threads.
    package static func takeNoSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}
