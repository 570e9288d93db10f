internal import LinuxSystem
internal import MediaCore

/// Writes what outlives the daemon to its state file, on a thread of its own: nobody else waits for that disk.
///
/// Whoever has changed something calls `note` and gets a number. The thread takes the highest number, then the record
/// as it is by then, and writes it: so one write answers for all changes before it. Any thread may call.
package final class PrivacyKeeper: Sendable {
    /// What an operator should know, each once.
    package enum News: Equatable, Sendable {
        /// Why the file does not take the record.
        case failing(String)
        case writing
    }

    private struct State {
        var wanted: UInt64 = 0
        var tried: UInt64 = 0
        var written: UInt64 = 0
        /// When the write began that has not ended.
        var writingSince: MediaTime?
        /// Why the last one failed.
        var failure: String?
        var hasToldFailure = false
        var isStopping = false
        var hasEnded = false
    }

    /// A write that takes longer is taken to hang, and nobody is kept waiting for it.
    static let patience = MediaTime.milliseconds(500)
    /// What `stop` waits for a write that goes on.
    private static let stopPatience = MediaTime.seconds(1)

    private let state = Monitor(State())
    private let thread = Monitor<WorkerThread?>(nil)
    private let clock: any TimeSource
    private let record: @Sendable () -> PrivacyRecord
    private let mark: @Sendable () -> PrivacyStateFile.Mark?
    private let write: @Sendable (PrivacyRecord) throws(StateFileFailure) -> Void

    /// - Parameters:
    ///   - record: as it is now; called on the keeper's thread.
    ///   - mark: of the file in place: one that is gone or was replaced is written again. Called there, and by `start`.
    ///   - write: returns when the record is on the disk.
    init(
        clock: any TimeSource, record: @escaping @Sendable () -> PrivacyRecord,
        mark: @escaping @Sendable () -> PrivacyStateFile.Mark?,
        write: @escaping @Sendable (PrivacyRecord) throws(StateFileFailure) -> Void
    ) {
        (self.clock, self.record, self.mark, self.write) = (clock, record, mark, write)
    }

    /// - Parameter onDisk: what the file holds; nil for no file.
    func start(onDisk: PrivacyRecord?) throws(Errno) {
        let seen = onDisk == nil ? nil : mark()
        let worker = try WorkerThread(name: "up-state") { [self] in run(onDisk, seen) }
        thread.withLock { $0 = worker }
    }

    /// Something has changed, and is to be written.
    func note() -> UInt64 {
        state.signal { state in
            state.wanted += 1
            return state.wanted
        }
    }

    /// Whether all up to this number is on the disk; nil while that may still come.
    func isWritten(_ number: UInt64) -> Bool? {
        let now = clock.now()
        return state.withLock { state in
            if state.written >= number { return true }
            if state.tried >= number { return false }
            return Self.hangs(state, at: now) ? false : nil
        }
    }

    /// Once a second: tries again what failed, and says what has changed.
    func settle() -> News? {
        let now = clock.now()
        return state.signal { state in
            let failure =
                Self.hangs(state, at: now) ? "a write has not ended for \(Self.patience)" : state.failure
            // The thread tries again when it sees a higher number.
            if state.failure != nil, state.writingSince == nil { state.wanted += 1 }
            guard state.hasToldFailure != (failure != nil) else { return nil }
            state.hasToldFailure = failure != nil
            return failure.map { .failing($0) } ?? .writing
        }
    }

    /// Ends the thread when it has written what was noted; one that hangs in its disk is left to end with the process.
    func stop() {
        guard let worker = thread.withLock({ $0.take() }) else { return }
        state.signal { $0.isStopping = true }
        let hasEnded = state.wait(until: clock.now() + Self.stopPatience) { $0.hasEnded ? true : nil } ?? false
        if hasEnded { worker.join() } else { worker.abandon() }
    }

    private static func hangs(_ state: State, at now: MediaTime) -> Bool {
        state.writingSince.map { now - $0 > patience } ?? false
    }

    private func run(_ onDisk: PrivacyRecord?, _ seen: PrivacyStateFile.Mark?) {
        var (onDisk, seen) = (onDisk, seen)
        while let number = next() {
            // After the number: what is noted from here on has a higher one.
            let record = record()
            var failure: String?
            if record != onDisk || seen == nil || mark() != seen {
                do throws(StateFileFailure) {
                    // What is there after a failure is not known.
                    onDisk = nil
                    try write(record)
                    (onDisk, seen) = (record, mark())
                } catch {
                    failure = error.sentence
                }
            }
            state.signal { [failure] state in
                (state.tried, state.writingSince, state.failure) = (number, nil, failure)
                if failure == nil { state.written = number }
            }
        }
        state.signal { $0.hasEnded = true }
    }

    /// Waits for a change that was not tried; nil at the end.
    private func next() -> UInt64? {
        let found: UInt64?? = state.wait { state in
            if state.wanted > state.tried {
                state.writingSince = self.clock.now()
                return .some(state.wanted)
            }
            return state.isStopping ? .some(nil) : nil
        }
        return found ?? nil
    }
}
