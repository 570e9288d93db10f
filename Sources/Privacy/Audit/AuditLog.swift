internal import ControlProtocol
package import LinuxSystem
internal import MediaCore

/// Records who had something hidden or shown, when and why: one JSON line for each action, appended to a file. It
/// contains nothing of a picture.
///
/// Any thread. Lines are in the order of the actions: the acting thread adds its line under the same lock (`add`), and
/// wakes the writer after it has released the lock (`flush`). A separate thread writes them, so that no other thread
/// waits for a disk, even if the disk hangs. Lines above the `AuditAllowance` are left out. Lines without room in the
/// queue, and lines that the disk does not take, are lost. Both are counted, and a line reports their number.
package final class AuditLog: Sendable {
    /// News for operators, each at most once a second.
    package enum News: Equatable, Sendable {
        /// The file takes no more lines; with the reason.
        case failing(String)
        /// The disk hangs; with the number of waiting lines.
        case waiting(lines: Int)
        /// The file takes lines again; with the number of missing lines.
        case writing(lost: Int)
        /// The file could not be reopened; the old one stays in use.
        case notReopened(String)
        /// An account causes more lines than are written.
        case flooded(by: String, lines: Int)
    }

    /// The maximum number of lines that wait for the disk.
    package static let capacity = AuditQueue.capacity
    private let clock: any TimeSource
    /// Shared with the writing thread, which outlives this object if the disk hangs.
    private let queue = Monitor(AuditQueue())
    /// Nil if nothing is written.
    private let thread: WorkerThread?

    /// A log that writes nothing.
    static func none(_ clock: any TimeSource) -> AuditLog { AuditLog(clock) }

    private init(_ clock: any TimeSource) {
        (thread, self.clock) = (nil, clock)
    }

    /// Opens the file on the calling thread.
    ///
    /// - Parameter path: nil for no file.
    /// - Throws: a sentence if the file cannot be opened.
    package init(path: String?, clock: any TimeSource) throws(AuditFailure) {
        self.clock = clock
        guard let path else {
            thread = nil
            return
        }
        let (file, queue) = (try AuditFile(path), queue)
        do {
            thread = try WorkerThread(name: "up-audit", stackBytes: 128 * 1024) { Self.write(queue, to: file, clock) }
        } catch {
            throw AuditFailure(sentence: "privacy.audit_file: the thread that writes it cannot be started: \(error)")
        }
    }

    deinit { _ = end(within: .seconds(1)) }

    /// The memory in bytes of the waiting lines and of the thread that writes them.
    package static let memoryBytes = AuditQueue.capacity * 512

    /// The number of lines that are missing in the file.
    package var lost: Int { queue.withLock { $0.lost } }

    /// Continues in a new file after log rotation has moved the old one away. Returns at once; `settle` reports a
    /// failure.
    package func reopen() {
        guard thread != nil else { return }
        queue.signal { $0.reopen() }
    }

    /// Adds a line; `flush` wakes the thread that writes it. Returns at once.
    ///
    /// - Parameter actor: the line counts towards this actor's allowance.
    func add(_ event: String, by actor: PrivacyActor, isRegion: Bool = false, _ members: [JSONValue.Member]) {
        guard thread != nil else { return }
        let line = AuditFile.line(event, members)
        let now = clock.now()
        queue.withLock { queue in
            guard queue.allowance.takes(.init(actor, isRegion: isRegion), at: now) else { return queue.countLost() }
            queue.add(line)
        }
    }

    /// Wakes the thread that writes the lines that any thread has added. Returns at once.
    func flush() {
        guard thread != nil else { return }
        queue.signal { _ in }
    }

    /// Called once a second and at the end. Adds lines about left-out lines, and returns what has changed. Returns at
    /// once.
    func settle() -> [News] {
        guard thread != nil else { return [] }
        let now = clock.now()
        return queue.signal { queue in
            var news: [News] = []
            for (account, lines) in queue.allowance.settle(at: now) {
                var members: [JSONValue.Member] = [
                    .init("holder", .string(account.kind.rawValue)), .init("lines", .integer(lines)),
                ]
                if let user = account.user { members.append(.init("by_user", .integer(Int(user)))) }
                queue.add(AuditFile.line("lines_left_out", members))
                news.append(.flooded(by: "\(account)", lines: lines))
            }
            return news + queue.settle(at: now)
        }
    }

    /// Waits until every added line has been written or has failed. Returns false if that takes longer than `patience`.
    func waitUntilIdle(for patience: MediaTime) -> Bool {
        guard thread != nil else { return true }
        return queue.wait(until: clock.now() + patience, by: clock) { $0.isIdle ? true : nil } ?? false
    }

    /// Writes the waiting lines for at most `patience`, and ends the thread. No line may be added afterwards.
    ///
    /// - Returns: the number of lines that the disk has not taken by then; they are lost with the process.
    func end(within patience: MediaTime) -> Int {
        guard let thread else { return 0 }
        let isFirst = queue.signal { queue in
            defer { queue.isEnding = true }
            return !queue.isEnding
        }
        guard isFirst else { return 0 }
        let hasEnded = queue.wait(until: clock.now() + patience, by: clock) { $0.hasEnded ? true : nil }
        guard hasEnded == nil else {
            thread.join()
            return 0
        }
        thread.abandon()
        return queue.withLock { queue in
            queue.countLost(queue.waiting)
            return queue.waiting
        }
    }

    /// The body of the thread, the only one that waits for the disk.
    private static func write(_ queue: Monitor<AuditQueue>, to file: AuditFile, _ clock: any TimeSource) {
        while true {
            switch queue.wait({ $0.next(at: clock.now()) }) {
            case .write(let line, let missing)?:
                let failure = file.write(line, missing: missing)
                queue.signal { $0.wrote(failure, unsaid: file.unsaid) }
            case .reopen?:
                var failure: String?
                do throws(AuditFailure) { try file.reopen() } catch { failure = error.sentence }
                queue.signal { $0.reopened(failure) }
            case .end?, nil:
                // Wakes threads that wait for the end.
                queue.signal { _ in }
                return
            }
        }
    }
}
