internal import ControlProtocol
internal import Glibc
package import LinuxSystem
internal import MediaCore
internal import Privacy
internal import Synchronization

/// Who has had what hidden or shown, when and why: a line of JSON for each, appended to a file. Nothing of a picture.
///
/// Any thread. Lines are in the order of what they tell: who does it adds its line under the same lock (`add`), and
/// writes it when the lock is free again (`flush`), so that a slow disk makes nobody wait for what is hidden. A line is
/// written whole, in one call. What comes faster than `AuditAllowance` allows is left out; what the disk does not take
/// is lost. Both are counted, and a line says how many.
package final class AuditLog: Sendable {
    /// What an operator should know, each at most once a second.
    enum News: Equatable {
        /// The file takes no more lines; why.
        case failing(String)
        /// It takes them again; how many it lacks.
        case writing(lost: Int)
        /// Somebody asks for more than is written down.
        case flooded(by: String, lines: Int)
    }

    private final class File: Sendable {
        let descriptor: OwnedDescriptor
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    /// Lines that are to be written.
    private struct Queue {
        var allowance = AuditAllowance()
        var lines: [[UInt8]] = []
        /// Found no room, and no line speaks of them yet.
        var crowdedOut = 0
    }

    private struct Disk {
        var file: File?
        /// The file ends within a line: a disk took part of one.
        var endsInALine = false
        /// Why the last line could not be written; nil where it was.
        var failure: String?
        /// Why one could not be, that nobody has been told of yet.
        var news: String?
        /// It has been told that lines are lost.
        var hasToldFailure = false
        /// Lines that were lost, of which no line speaks yet.
        var unsaid = 0
    }

    /// Lines that wait for a disk that hangs: a quarter of a megabyte.
    private static let capacity = 512

    private let path: String?
    private let clock: any TimeSource
    private let queue = Monitor(Queue())
    private let disk = Monitor(Disk())
    private let lostCount = Atomic(0)

    /// Writes nowhere.
    static func none(_ clock: any TimeSource) -> AuditLog { AuditLog(clock) }

    private init(_ clock: any TimeSource) {
        (path, self.clock) = (nil, clock)
    }

    /// - Parameter path: nil for no file.
    /// - Throws: a sentence where the file cannot be opened.
    package init(path: String?, clock: any TimeSource) throws(AuditFailure) {
        self.path = path
        self.clock = clock
        try reopen()
    }

    /// Lines that are not in the file.
    package var lost: Int { lostCount.load(ordering: .relaxed) }

    /// Goes on in a new file where the old one has been moved away, as log rotation does.
    package func reopen() throws(AuditFailure) {
        guard let path else { return }
        let file = try Self.open(path)
        let endsInALine = Self.endsInALine(path)
        disk.withLock { ($0.file, $0.endsInALine) = (file, endsInALine) }
    }

    /// Adds a line, which `flush` writes. Waits for nothing.
    ///
    /// - Parameter actor: whose allowance it is on.
    func add(_ event: String, by actor: PrivacyActor, isRegion: Bool = false, _ members: [JSONValue.Member]) {
        guard path != nil else { return }
        let line = Self.line(event, members)
        let now = clock.now()
        queue.withLock { queue in
            guard queue.allowance.takes(.init(actor, isRegion: isRegion), at: now) else { return countLost() }
            guard queue.lines.count < Self.capacity else {
                queue.crowdedOut += 1
                return countLost()
            }
            queue.lines.append(line)
        }
    }

    /// Writes what was added, by whomever.
    func flush() {
        guard path != nil else { return }
        disk.withLock { disk in
            while true {
                let (lines, crowdedOut) = queue.withLock { queue in
                    defer { (queue.lines, queue.crowdedOut) = ([], 0) }
                    return (queue.lines, queue.crowdedOut)
                }
                guard !lines.isEmpty else { return }
                for line in lines { write(line, to: &disk) }
                disk.unsaid += crowdedOut
            }
        }
    }

    private func countLost() { lostCount.add(1, ordering: .relaxed) }

    /// Once a second, and at the end: writes down what was left out, and says what has changed.
    func settle() -> [News] {
        guard path != nil else { return [] }
        let now = clock.now()
        var news: [News] = []
        queue.withLock { queue in
            for (account, lines) in queue.allowance.settle(at: now) {
                var members: [JSONValue.Member] = [
                    .init("holder", .string(account.kind.rawValue)), .init("lines", .integer(lines)),
                ]
                if let user = account.user { members.append(.init("by_user", .integer(Int(user)))) }
                queue.lines.append(Self.line("lines_left_out", members))
                news.append(.flooded(by: "\(account)", lines: lines))
            }
        }
        flush()
        disk.withLock { disk in
            if let failure = disk.news, !disk.hasToldFailure {
                disk.hasToldFailure = true
                news.append(.failing(failure))
            }
            disk.news = nil
            if disk.failure == nil, disk.hasToldFailure {
                disk.hasToldFailure = false
                news.append(.writing(lost: lost))
            }
        }
        return news
    }

    private static func line(_ event: String, _ members: [JSONValue.Member]) -> [UInt8] {
        JSONValue.object(
            [.init("time", .string(WallClock.timestamp())), .init("event", .string(event))] + members
        ).serialized() + [newline]
    }

    private func write(_ line: [UInt8], to disk: inout Disk) {
        guard let file = disk.file?.descriptor.raw else { return }
        var bytes = disk.endsInALine ? [Self.newline] : []
        if disk.unsaid > 0 { bytes += Self.line("lines_lost", [.init("lines", .integer(disk.unsaid))]) }
        bytes += line
        let written = unsafe Glibc.write(file, bytes, bytes.count)
        guard written == bytes.count else {
            let failure = written < 0 ? "\(Errno.current)" : "\(Errno(ENOSPC))"
            (disk.failure, disk.news) = (failure, failure)
            countLost()
            disk.unsaid += 1
            if written > 0 { disk.endsInALine = bytes[written - 1] != Self.newline }
            return
        }
        (disk.endsInALine, disk.failure, disk.unsaid) = (false, nil, 0)
    }

    private static let newline = UInt8(ascii: "\n")

    private static func open(_ path: String) throws(AuditFailure) -> File {
        let raw = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard raw >= 0 else {
            throw AuditFailure(
                sentence: "privacy.audit_file: cannot write to \(path): \(Errno.current); its folder must exist and "
                    + "the daemon must be allowed to write there, or leave it empty")
        }
        return File(OwnedDescriptor(raw))
    }

    /// Whether the file's last byte ends no line: a daemon before this one found the disk full. False where nobody can
    /// tell.
    private static func endsInALine(_ path: String) -> Bool {
        let raw = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard raw >= 0 else { return false }
        let file = OwnedDescriptor(raw)
        var last: UInt8 = 0
        let size = lseek(file.raw, 0, SEEK_END)
        guard size > 0, unsafe pread(file.raw, &last, 1, size - 1) == 1 else { return false }
        return last != newline
    }
}

/// Why there is no audit log, as a sentence.
package struct AuditFailure: Error, Equatable, CustomStringConvertible {
    package let sentence: String
    package var description: String { sentence }
}
