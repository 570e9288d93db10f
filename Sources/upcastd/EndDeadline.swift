internal import ControlProtocol
internal import Glibc
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline

/// Ends the process when its orderly end takes too long: a thread that hangs must not keep a stopped daemon for ever.
struct EndDeadline {
    private let isOver = Monitor(false)
    private let thread: WorkerThread?

    /// - Parameter deadline: CLOCK_MONOTONIC.
    init(_ deadline: MediaTime, logger: Logger) {
        let isOver = isOver
        thread = try? WorkerThread(name: "up-end") {
            let ended = isOver.wait(until: deadline) { $0 ? true : nil }
            guard ended == nil else { return }
            logger.tell(.notStoppedInTime)
            _exit(ExitStatus.hung.rawValue)
        }
    }

    /// The end came in time.
    func met() {
        isOver.signal { $0 = true }
        thread?.join()
    }
}
