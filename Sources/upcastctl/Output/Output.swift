import Glibc
import LinuxSystem

/// Standard output, without buffers between: what is said is there at once, also in a pipe.
enum Output {
    static func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// All of it; a standard output that is gone ends the program, since nobody is there to be served.
    static func write(_ bytes: [UInt8]) {
        do { try write(bytes, to: STDOUT_FILENO) } catch {
            // As the signal of a closed pipe would have done where it is not ignored.
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

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
