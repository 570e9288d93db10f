internal import ControlProtocol
package import LinuxSystem
internal import MediaCore

/// Who has had what hidden or shown, when and why: a line of JSON for each, appended to a file. Nothing of a picture.
///
/// Any thread. Lines are in the order of what they tell: who does it adds its line under the same lock (`add`), and
/// wakes the writer when the lock is free again (`flush`). A thread of the log's own writes them, so that nobody else
/// waits for a disk, not even for one that hangs. What comes faster than `AuditAllowance` allows is left out; what
/// finds no room in the queue, or what the disk does not take, is lost. Both are counted, and a line says how many.
package final class AuditLog: Sendable {
    /// What an operator should know, each at most once a second.
    package enum News: Equatable, Sendable {
        /// The file takes no more lines; why.
        case failing(String)
        /// The disk hangs; how many lines wait for it.
        case waiting(lines: Int)
        /// It takes them again; how many it lacks.
        case writing(lost: Int)
        /// The file could not be opened anew; the old one stays in use.
        case notReopened(String)
        /// Somebody asks for more than is written down.
        case flooded(by: String, lines: Int)
    }

    /// Lines that wait for the disk at most.
    package static let capacity = AuditQueue.capacity
    private let clock: any TimeSource
    /// Shared with the writing thread, which outlives this object where the disk hangs.
    private let queue = Monitor(AuditQueue())
    /// Nil where nothing is written.
    private let thread: WorkerThread?

    /// Writes nowhere.
    static func none(_ clock: any TimeSource) -> AuditLog { AuditLog(clock) }

    private init(_ clock: any TimeSource) {
        (thread, self.clock) = (nil, clock)
    }

    /// Opens the file, on the calling thread.
    ///
    /// - Parameter path: nil for no file.
    /// - Throws: a sentence where the file cannot be opened.
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

    /// Lines that wait for the disk, and the thread that writes them.
    package static let memoryBytes = AuditQueue.capacity * 512

    /// Lines that are not in the file.
    package var lost: Int { queue.withLock { $0.lost } }

    /// Goes on in a new file where the old one was moved away, as log rotation does. Does not wait for it; `settle`
    /// says where it failed.
    package func reopen() {
        guard thread != nil else { return }
        queue.signal { $0.reopen() }
    }

    /// Adds a line, which `flush` has written. Waits for nothing.
    ///
    /// - Parameter actor: whose allowance it is on.
    func add(_ event: String, by actor: PrivacyActor, isRegion: Bool = false, _ members: [JSONValue.Member]) {
        guard thread != nil else { return }
        let line = AuditFile.line(event, members)
        let now = clock.now()
        queue.withLock { queue in
            guard queue.allowance.takes(.init(actor, isRegion: isRegion), at: now) else { return queue.countLost() }
            queue.add(line)
        }
    }

    /// Wakes the thread that writes what was added, by whomever. Waits for nothing.
    func flush() {
        guard thread != nil else { return }
        queue.signal { _ in }
    }

    /// Once a second, and at the end: has written down what was left out, and says what has changed. Waits for nothing.
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

    /// Waits until everything that was added has been written, or could not be; false where that takes longer.
    func waitUntilIdle(for patience: MediaTime) -> Bool {
        guard thread != nil else { return true }
        return queue.wait(until: MonotonicClock().now() + patience) { $0.isIdle ? true : nil } ?? false
    }

    /// Writes what waits, for as long as `patience`, and ends the thread. Nothing is to be added afterwards.
    ///
    /// - Returns: lines that the disk has not taken by then, which are lost with the process.
    func end(within patience: MediaTime) -> Int {
        guard let thread else { return 0 }
        let isFirst = queue.signal { queue in
            defer { queue.isEnding = true }
            return !queue.isEnding
        }
        guard isFirst else { return 0 }
        let hasEnded = queue.wait(until: MonotonicClock().now() + patience) { $0.hasEnded ? true : nil }
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

    /// The body of the thread: the only one that waits for the disk.
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
                // Whoever waits for the end looks again.
                queue.signal { _ in }
                return
            }
        }
    }
}
