internal import ControlProtocol
internal import Glibc
package import LinuxSystem
internal import MediaCore
internal import Privacy

/// Who has had what hidden or shown, when and why: a line of JSON for each, appended to a file. Nothing of a picture.
///
/// Any thread. A line is written whole, in one call, after what it tells has been done: a slow disk makes nobody wait
/// for what is hidden. What cannot be written is counted, and so is what comes faster than `linesPerSecond`: a client
/// must not be able to fill the disk.
package final class AuditLog: Sendable {
    private final class File: Sendable {
        let descriptor: OwnedDescriptor
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    private struct State {
        var file: File?
        var second = MediaTime.zero
        var lines = 0
        var lost = 0
    }

    /// Two dozen broadcasts' worth; people and apps are far below.
    static let linesPerSecond = 50

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
        guard let path else { return }
        let file = try Self.open(path)
        state.withLock { $0.file = file }
    }

    /// Lines that could not be written.
    package var lost: Int { state.withLock { $0.lost } }

    /// Goes on in a new file where the old one has been moved away, as log rotation does.
    package func reopen() throws(AuditFailure) {
        guard let path else { return }
        let file = try Self.open(path)
        state.withLock { $0.file = file }
    }

    func note(_ event: String, _ members: [JSONValue.Member]) {
        guard path != nil else { return }
        let line = JSONValue.object(
            [.init("time", .string(WallClock.timestamp())), .init("event", .string(event))] + members)
        let bytes = line.serialized() + [UInt8(ascii: "\n")]
        let now = clock.now()
        state.withLock { state in
            if now - state.second >= .seconds(1) { (state.second, state.lines) = (now, 0) }
            state.lines += 1
            guard state.lines <= Self.linesPerSecond, let file = state.file?.descriptor.raw,
                unsafe write(file, bytes, bytes.count) == bytes.count
            else { return state.lost += 1 }
        }
    }

    private static func open(_ path: String) throws(AuditFailure) -> File {
        let raw = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard raw >= 0 else {
            throw AuditFailure(
                sentence: "privacy.audit_file: cannot write to \(path): \(Errno.current); its folder must exist and "
                    + "the daemon must be allowed to write there, or leave it empty")
        }
        return File(OwnedDescriptor(raw))
    }
}

/// Why there is no audit log, as a sentence.
package struct AuditFailure: Error, Equatable, CustomStringConvertible {
    package let sentence: String
    package var description: String { sentence }
}
