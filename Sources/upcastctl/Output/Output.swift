import Glibc
import LinuxSystem

/// Unbuffered standard output, so that a pipe receives each line at once.
enum Output {
    static func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes all bytes. A closed standard output ends the program.
    static func write(_ bytes: [UInt8]) {
        do { try write(bytes, to: STDOUT_FILENO) } catch {
            // Like SIGPIPE, if it were not ignored.
            exit(ExitStatus.refused.rawValue)
        }
    }

    static func write(_ bytes: [UInt8], to descriptor: CInt) throws(Errno) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let error = Errno.current
            switch error.code {
            case EINTR: continue
            case EAGAIN:
                var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&one, 1, -1)
            default: throw error
            }
        }
    }

    /// A remark on standard error.
    static func note(_ text: String) { try? write(Array("upcastctl: \(text)\n".utf8), to: STDERR_FILENO) }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether the user wants colours on a terminal: https://no-color.org
    static var wantsColour: Bool { unsafe getenv("NO_COLOR").map { unsafe $0.pointee == 0 } ?? true }
}
