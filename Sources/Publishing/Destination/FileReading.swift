internal import LinuxSystem
internal import MediaCore

/// Reads that a destination's thread makes from a disk, which may hang. The thread is not watched meanwhile: a disk
/// that hangs is not an error of the daemon, and the other destinations continue.
///
/// The destination's thread reads; any thread may query the state.
final class FileReading: Sendable {
    /// A disk that takes longer is reported as hanging.
    static let patience = MediaTime.seconds(2)

    struct Wait: Equatable {
        /// The file in messages: "key_file /path".
        var file: String
        /// The cause of the error if the file cannot be read.
        var cause: FailureCause
        var since: MediaTime
        var isTold = false
    }

    private let work: WorkMark?
    private let clock: any TimeSource
    private let state = Monitor<Wait?>(nil)
    /// Called with the file, on the reading thread, when a disk that was reported answers again.
    private let onAnswer: @Sendable (String) -> Void

    init(_ work: WorkMark?, clock: any TimeSource, onAnswer: @escaping @Sendable (String) -> Void) {
        self.work = work
        self.clock = clock
        self.onAnswer = onAnswer
    }

    /// The file that is being read; nil for none.
    var file: String? { state.withLock { $0?.file } }

    /// Runs `body`, which reads the file, for as long as the disk takes.
    func read<Result, Failure: Error>(
        _ file: String, _ cause: FailureCause, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The interrupted piece of work continues afterwards.
        let piece = work?.current
        work?.end()
        let wait = Wait(file: file, cause: cause, since: clock.now())
        state.withLock { $0 = wait }
        defer {
            let isTold = state.withLock { state in
                defer { state = nil }
                return state?.isTold == true
            }
            if let piece { work?.begin(allowing: piece.allowance) }
            if isTold { onAnswer(file) }
        }
        return try body()
    }

    /// Returns the current wait if it exceeds `patience`, once for each wait.
    func news() -> Wait? {
        let now = clock.now()
        return state.withLock { state in
            guard let wait = state, !wait.isTold, now - wait.since >= Self.patience else { return nil }
            state?.isTold = true
            return wait
        }
    }
}

extension Destination {
    /// Reports a disk that hangs. Called once a second, by one thread.
    package func lookAtFiles() {
        guard let wait = files.news() else { return }
        var error = PublishError(
            wait.cause, "the disk of \(wait.file) has not answered for \(FileReading.patience): it hangs")
        error.destination = title
        error.consequence = "nothing is sent there until it answers"
        state.withLock { state in
            state.snapshot.lastError = error
            state.snapshot.lastErrorAt = clock.now()
        }
        onEvent(.warning("\(error)"))
    }

    /// A message that says why the thread has not ended in time, and what is lost.
    package var lateEnd: String {
        if let file = files.file {
            return "\(title) has not ended: its thread waits for the disk of \(file), and sends nothing"
        }
        return "\(title) hangs at its end; what it has not \(work == nil ? "written" : "sent") is lost"
    }
}
