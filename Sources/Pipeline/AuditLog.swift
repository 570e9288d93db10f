internal import ControlProtocol
internal import Glibc
package import LinuxSystem
internal import MediaCore
internal import Privacy

/// Who has had what hidden or shown, when and why: a line of JSON for each, appended to a file. Nothing of a picture.
///
/// Any thread. A line is written whole, in one call, after what it tells has been done: a slow disk makes nobody wait
/// for what is hidden. What comes faster than `AuditAllowance` allows is left out, with a line that says how much; what
/// the disk does not take is lost. Both are counted.
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

    private struct State {
        var file: File?
        /// The file ends within a line: a disk took part of one.
        var endsInALine = false
        var allowance = AuditAllowance()
        /// Why the last line could not be written; nil where it was.
        var failure: String?
        /// That has been told.
        var hasToldFailure = false
        var lost = 0
    }

    private let path: String?
    private let clock: any TimeSource
    private let state: Monitor<State>

    /// Writes nowhere.
    static func none(_ clock: any TimeSource) -> AuditLog { AuditLog(clock) }

    private init(_ clock: any TimeSource) {
        (path, self.clock) = (nil, clock)
        state = Monitor(State())
    }

    /// - Parameter path: nil for no file.
    /// - Throws: a sentence where the file cannot be opened.
    package init(path: String?, clock: any TimeSource) throws(AuditFailure) {
        self.path = path
        self.clock = clock
        state = Monitor(State())
        try reopen()
    }

    /// Lines that are not in the file.
    package var lost: Int { state.withLock { $0.lost } }

    /// Goes on in a new file where the old one has been moved away, as log rotation does.
    package func reopen() throws(AuditFailure) {
        guard let path else { return }
        let file = try Self.open(path)
        let endsInALine = Self.endsInALine(path)
        state.withLock { ($0.file, $0.endsInALine) = (file, endsInALine) }
    }

    /// - Parameter actor: whose allowance it is on.
    func note(
        _ event: String, by actor: PrivacyActor, isRegion: Bool = false, _ members: [JSONValue.Member]
    ) {
        guard path != nil else { return }
        let bytes = Self.line(event, members)
        let now = clock.now()
        state.withLock { state in
            guard state.allowance.takes(.init(actor, isRegion: isRegion), at: now) else {
                state.lost += 1
                return
            }
            Self.write(bytes, &state)
        }
    }

    /// Once a second: writes down what was left out, and says what has changed.
    func settle() -> [News] {
        guard path != nil else { return [] }
        let now = clock.now()
        return state.withLock { state in
            var news: [News] = []
            for (account, lines) in state.allowance.settle(at: now) {
                var members: [JSONValue.Member] = [
                    .init("holder", .string(account.kind.rawValue)), .init("lines", .integer(lines)),
                ]
                if let user = account.user { members.append(.init("by_user", .integer(Int(user)))) }
                Self.write(Self.line("lines_left_out", members), &state)
                news.append(.flooded(by: "\(account)", lines: lines))
            }
            switch state.failure {
            case let failure? where !state.hasToldFailure:
                state.hasToldFailure = true
                news.append(.failing(failure))
            case nil where state.hasToldFailure:
                state.hasToldFailure = false
                news.append(.writing(lost: state.lost))
            default: break
            }
            return news
        }
    }

    private static func line(_ event: String, _ members: [JSONValue.Member]) -> [UInt8] {
        JSONValue.object(
            [.init("time", .string(WallClock.timestamp())), .init("event", .string(event))] + members
        ).serialized() + [newline]
    }

    private static func write(_ line: [UInt8], _ state: inout State) {
        guard let file = state.file?.descriptor.raw else { return }
        let bytes = state.endsInALine ? [newline] + line : line
        let written = unsafe Glibc.write(file, bytes, bytes.count)
        guard written == bytes.count else {
            state.failure = written < 0 ? "\(Errno.current)" : "\(Errno(ENOSPC))"
            state.lost += 1
            if written > 0 { state.endsInALine = bytes[written - 1] != newline }
            return
        }
        (state.endsInALine, state.failure) = (false, nil)
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
