internal import ControlProtocol
internal import Glibc
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline

/// Exits the process if stopping takes too long, so that a blocked thread does not keep a stopped daemon alive.
struct EndDeadline {
    private let isOver = Monitor(false)
    private let thread: WorkerThread?

    /// - Parameter deadline: in CLOCK_MONOTONIC.
    init(_ deadline: MediaTime, logger: Logger) {
        let isOver = isOver
        thread = try? WorkerThread(name: "up-end") {
            let ended = isOver.wait(until: deadline) { $0 ? true : nil }
            // If a thread is inside a write or close on a disk that hangs, the process stays in the process table until
            // the disk answers.
            guard ended == nil else { return }
            logger.tell(.notStoppedInTime)
            _exit(ExitStatus.hung.rawValue)
        }
    }

    /// Reports that the daemon stopped in time.
    func met() {
        isOver.signal { $0 = true }
        thread?.join()
    }
}
