internal import ControlProtocol
internal import Glibc
internal import LinuxSystem

/// The file of the audit log. Appends whole lines, and records in the file how many lines are missing.
///
/// Every call can take as long as the disk takes. Owned by the thread `up-audit` once it runs.
final class AuditFile: @unchecked Sendable /* used by one thread at a time */ {
    private struct Handle: ~Copyable {
        let descriptor: OwnedDescriptor
        /// Whether the file ends within a line, because the disk took only a part of it.
        var endsInALine: Bool
    }

    private let path: String
    private var handle: Handle
    /// Lost lines that no line in the file reports yet.
    private(set) var unsaid = 0

    /// - Throws: a sentence if the file cannot be opened.
    init(_ path: String) throws(AuditFailure) {
        self.path = path
        handle = try Self.open(path)
    }

    /// Continues in a new file after the old one was moved away. If that fails, the old file stays in use.
    func reopen() throws(AuditFailure) { handle = try Self.open(path) }

    /// Appends a line in one call. Before it, a line reports the missing lines, if there are any.
    ///
    /// - Parameters:
    ///   - line: empty to report only missing lines.
    ///   - missing: lines that were lost since the previous line.
    /// - Returns: why the line was not written; nil if it was.
    func write(_ line: [UInt8], missing: Int) -> String? {
        unsaid += missing
        var bytes = handle.endsInALine ? [Self.newline] : []
        if unsaid > 0 { bytes += Self.line("lines_lost", [.init("lines", .integer(unsaid))]) }
        bytes += line
        let written = unsafe Glibc.write(handle.descriptor.raw, bytes, bytes.count)
        guard written == bytes.count else {
            let failure = written < 0 ? "\(Errno.current)" : "\(Errno(ENOSPC))"
            if !line.isEmpty { unsaid += 1 }
            if written > 0 { handle.endsInALine = bytes[written - 1] != Self.newline }
            return failure
        }
        (handle.endsInALine, unsaid) = (false, 0)
        return nil
    }

    /// A line of JSON with the time.
    static func line(_ event: String, _ members: [JSONValue.Member]) -> [UInt8] {
        JSONValue.object(
            [.init("time", .string(WallClock.timestamp())), .init("event", .string(event))] + members
        ).serialized() + [newline]
    }

    private static let newline = UInt8(ascii: "\n")

    private static func open(_ path: String) throws(AuditFailure) -> Handle {
        let raw = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard raw >= 0 else {
            throw AuditFailure(
                sentence: "privacy.audit_file: cannot write to \(path): \(Errno.current); its folder must exist and "
                    + "the daemon must be allowed to write there, or leave it empty")
        }
        return Handle(descriptor: OwnedDescriptor(raw), endsInALine: endsInALine(path))
    }

    /// Whether the file's last byte is not a newline, because an earlier daemon found the disk full. False if that is
    /// unknown.
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
