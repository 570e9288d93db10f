internal import LinuxSystem
internal import MediaCore

/// What a destination's thread reads from a disk, which may hang. The thread is not watched meanwhile: a disk that
/// hangs is no fault of the daemon's, and the other destinations go on without this one.
///
/// One thread reads; any thread looks.
final class FileReading: Sendable {
    /// A disk that takes longer hangs.
    static let patience = MediaTime.seconds(2)

    struct Wait: Equatable {
        /// For people: "key_file /path".
        var file: String
        /// What it is called where the file cannot be read.
        var kind: PublishError.Kind
        var since: MediaTime
        var isTold = false
    }

    private let work: WorkMark?
    private let clock: any TimeSource
    private let state = Monitor<Wait?>(nil)
    /// The disk has answered after all; called with the file, on the thread that reads.
    private let onAnswer: @Sendable (String) -> Void

    init(_ work: WorkMark?, clock: any TimeSource, onAnswer: @escaping @Sendable (String) -> Void) {
        self.work = work
        self.clock = clock
        self.onAnswer = onAnswer
    }

    /// What is being read; nil for nothing.
    var file: String? { state.withLock { $0?.file } }

    /// Reads, for as long as the disk takes.
    func read<Result, Failure: Error>(
        _ file: String, _ kind: PublishError.Kind, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // It goes on as it was.
        let piece = work?.current
        work?.end()
        let wait = Wait(file: file, kind: kind, since: clock.now())
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

    /// The wait for a disk that hangs, once for each.
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
    /// Once a second, by any one thread: says so where a file's disk hangs.
    package func lookAtFiles() {
        guard let wait = files.news() else { return }
        var error = PublishError(
            wait.kind, "the disk of \(wait.file) has not answered for \(FileReading.patience): it hangs")
        error.destination = title
        error.consequence = "nothing is sent there until it answers"
        state.withLock { state in
            state.snapshot.lastError = error
            state.snapshot.lastErrorAt = clock.now()
        }
        onEvent(.warning("\(error)"))
    }

    /// Why its thread has not ended in time, and what that costs.
    package var lateEnd: String {
        if let file = files.file {
            return "\(title) has not ended: its thread waits for the disk of \(file), and sends nothing"
        }
        return "\(title) hangs at its end; what it has not \(work == nil ? "written" : "sent") is lost"
    }
}
