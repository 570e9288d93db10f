internal import LinuxSystem
internal import MediaCore

/// Writes the state that outlives the daemon to its state file, on its own thread, so that no other thread waits for
/// the disk.
///
/// A thread that has changed something calls `note` and gets a number. The keeper's thread reads the highest number,
/// then the current record, and writes it. One write therefore covers all earlier changes. Any thread may call.
package final class PrivacyKeeper: Sendable {
    /// News for operators, each once.
    package enum News: Equatable, Sendable {
        /// Why the record could not be written.
        case failing(String)
        case writing
    }

    private struct State {
        var wanted: UInt64 = 0
        var tried: UInt64 = 0
        var written: UInt64 = 0
        /// When the current write began; nil between writes.
        var writingSince: MediaTime?
        /// Why the last write failed.
        var failure: String?
        var hasToldFailure = false
        var isStopping = false
        var hasEnded = false
    }

    /// A write that takes longer counts as hanging, and no caller waits for it.
    static let patience = MediaTime.milliseconds(500)
    /// How long `stop` waits for the current write.
    private static let stopPatience = MediaTime.seconds(1)

    private let state = Monitor(State())
    private let thread = Monitor<WorkerThread?>(nil)
    private let clock: any TimeSource
    private let record: @Sendable () -> PrivacyRecord
    private let mark: @Sendable () -> PrivacyStateFile.Mark?
    private let write: @Sendable (PrivacyRecord) throws(StateFileFailure) -> Void

    /// - Parameters:
    ///   - record: returns the current record; called on the keeper's thread.
    ///   - mark: returns the mark of the file in place. A file that is missing or was replaced is written again. Called
    ///     on the keeper's thread, and by `start`.
    ///   - write: returns when the record is on the disk.
    init(
        clock: any TimeSource, record: @escaping @Sendable () -> PrivacyRecord,
        mark: @escaping @Sendable () -> PrivacyStateFile.Mark?,
        write: @escaping @Sendable (PrivacyRecord) throws(StateFileFailure) -> Void
    ) {
        (self.clock, self.record, self.mark, self.write) = (clock, record, mark, write)
    }

    /// - Parameter onDisk: the contents of the file; nil for no file.
    func start(onDisk: PrivacyRecord?) throws(Errno) {
        let seen = onDisk == nil ? nil : mark()
        let worker = try WorkerThread(name: "up-state") { [self] in run(onDisk, seen) }
        thread.withLock { $0 = worker }
    }

    /// Notes a change that must be written. Returns its number.
    func note() -> UInt64 {
        state.signal { state in
            state.wanted += 1
            return state.wanted
        }
    }

    /// Whether all changes up to this number are on the disk; nil while that is undecided.
    func isWritten(_ number: UInt64) -> Bool? {
        let now = clock.now()
        return state.withLock { state in
            if state.written >= number { return true }
            if state.tried >= number { return false }
            return Self.hangs(state, at: now) ? false : nil
        }
    }

    /// Called once a second: retries after a failure, and returns what has changed.
    func settle() -> News? {
        let now = clock.now()
        return state.signal { state in
            let failure =
                Self.hangs(state, at: now) ? "a write has not ended for \(Self.patience)" : state.failure
            // The thread retries when it sees a higher number.
            if state.failure != nil, state.writingSince == nil { state.wanted += 1 }
            guard state.hasToldFailure != (failure != nil) else { return nil }
            state.hasToldFailure = failure != nil
            return failure.map { .failing($0) } ?? .writing
        }
    }

    /// Ends the thread when it has written all noted changes. A thread that hangs in its disk is left to end with the
    /// process.
    func stop() {
        guard let worker = thread.withLock({ $0.take() }) else { return }
        state.signal { $0.isStopping = true }
        let hasEnded =
            state.wait(until: clock.now() + Self.stopPatience, by: clock) { $0.hasEnded ? true : nil } ?? false
        if hasEnded { worker.join() } else { worker.abandon() }
    }

    private static func hangs(_ state: State, at now: MediaTime) -> Bool {
        state.writingSince.map { now - $0 > patience } ?? false
    }

    private func run(_ onDisk: PrivacyRecord?, _ seen: PrivacyStateFile.Mark?) {
        var (onDisk, seen) = (onDisk, seen)
        while let number = next() {
            // Read after the number, because later changes have a higher one.
            let record = record()
            var failure: String?
            if record != onDisk || seen == nil || mark() != seen {
                do throws(StateFileFailure) {
                    // After a failure, the file's contents are unknown.
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

    /// Waits for a change that was not tried yet. Returns nil at the end.
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
