internal import Glibc
internal import LinuxSystem

/// Writes log lines to a pipe or socket, with one `write` per line so that threads do not mix. Any thread.
///
/// If the pipe has no room for PIPE_BUF bytes, a line is lost, because logging must not block a data thread. The next
/// line reports the number of lost lines. `poll` reports that a pipe accepts PIPE_BUF bytes, so one thread at a time
/// writes, and a line with its report must not be longer. For files, `poll` always reports ready; for terminals, it
/// does so for one byte. `StandardErrorFile` handles both.
final class StandardErrorPipe: Sendable {
    /// PIPE_BUF without the report, in bytes.
    static let longestLine = 4096 - 256

    private let lost = Monitor(0)
    private let lines: LogLines

    init(_ lines: LogLines) { self.lines = lines }

    func put(_ line: String) {
        lost.withLock { lost in
            var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&descriptor, 1, 0) == 1, descriptor.revents & Int16(POLLOUT) != 0 else {
                lost += 1
                return
            }
            Self.write(lost == 0 ? line : lines.lost(lost) + line)
            lost = 0
        }
    }

    /// Writes to standard error, and waits if need be.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
