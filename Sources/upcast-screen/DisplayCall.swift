import Grabbing
import LinuxSystem

/// Runs a call that waits for a display server on its own thread. If the server hangs, the user is told all the same,
/// and the program can end.
enum DisplayCall {
    /// - Parameters:
    ///   - answers: is told when the thread waits for the server.
    ///   - stop: a descriptor that ends the wait when it is readable; -1 for none. The thread is then left to the end
    ///     of the process.
    ///   - silent: called when the server does not answer. What it throws ends the wait, too.
    /// - Returns: nil if the wait was ended.
    static func run<Value: Sendable>(
        _ answers: AnswerWatch, stop: CInt, silent: () throws -> Void, _ call: @escaping @Sendable () throws -> Value
    ) throws -> Value? {
        let done = try EventDescriptor()
        let outcome = Monitor<Result<Value, any Error>?>(nil)
        let thread = try WorkerThread(name: "display", stackBytes: 512 * 1024) {
            let result = Result { try call() }
            outcome.withLock { $0 = result }
            done.signal()
        }
        var isDone = false
        defer { if isDone { thread.join() } else { thread.abandon() } }
        isDone = try answers.wait(for: done, stop: stop, silent: silent)
        return isDone ? try outcome.withLock { $0 }?.get() : nil
    }
}
