internal import Glibc

/// Unbuffered output. Any thread.
package enum OutputBytes {
    /// Writes all bytes, and waits for a reader.
    package static func write(_ bytes: [UInt8], to descriptor: CInt) throws(Errno) {
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
}
