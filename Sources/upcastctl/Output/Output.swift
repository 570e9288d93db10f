import Glibc
import LinuxSystem

/// Unbuffered standard output, so that a pipe receives each line at once.
enum Output {
    static func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes all bytes. If they cannot be written, the program ends.
    static func write(_ bytes: [UInt8]) {
        do { try OutputBytes.write(bytes, to: STDOUT_FILENO) } catch {
            // A reader that has left needs no message: like SIGPIPE, if it were not ignored.
            if error.code != EPIPE { note("cannot write to standard output: \(error)") }
            exit(ExitStatus.refused.rawValue)
        }
    }

    /// A remark on standard error.
    static func note(_ text: String) { try? OutputBytes.write(Array("upcastctl: \(text)\n".utf8), to: STDERR_FILENO) }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether the user wants colours on a terminal: https://no-color.org
    static var wantsColour: Bool { unsafe getenv("NO_COLOR").map { unsafe $0.pointee == 0 } ?? true }
}
