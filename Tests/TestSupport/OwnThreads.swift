import LinuxSystem

/// Runs every job on a new thread.
///
/// Tests that block occupy the few threads of the cooperative pool for minutes, and resumed tasks wait for a free one.
/// Tasks that work against a deadline of the product run here instead. They may block, and should: `Task.yield` and
/// `Task.sleep` resume through the pool.
package final class OwnThreads: TaskExecutor {
    package static let shared = OwnThreads()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        do {
            // The thread gets its own name. Otherwise it has that of the thread that resumed the task, and tests count
            // threads by name.
            try WorkerThread(name: "test-task", stackBytes: 4 << 20) {
                job.runSynchronously(on: OwnThreads.shared.asUnownedTaskExecutor())
            }.abandon()
        } catch {
            fatalError("no thread for a test: \(error)")
        }
    }
}
