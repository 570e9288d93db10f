internal import Glibc

/// Lets a task wait for a call that blocks. No thread of Swift's cooperative pool waits.
package enum BlockingCall {
    /// Runs `body` on a thread of its own, which ends with it; returns what `body` returned.
    ///
    /// - Parameter name: of the thread, at most 15 bytes.
    /// - Throws: where the system has no thread left; `body` has not run then.
    package static func run<Value: Sendable>(
        _ name: String, isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable () -> Value
    ) async throws(Errno) -> Value {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Errno>, Never>) in
            do throws(Errno) {
                let thread = try WorkerThread(name: name) {
                    WorkerThread.takeNoSignals()
                    continuation.resume(returning: .success(body()))
                }
                // The continuation is what waits for it.
                thread.abandon()
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }
}

extension WorkerThread {
    /// Blocks every signal on the calling thread: in a library, signals are the application's threads' to take.
    package static func takeNoSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}
