internal import Glibc

/// Standard input, output and error.
package enum StandardStreams {
    /// Occupies the numbers of closed standard streams, so that no other descriptor gets them. Reading and writing
    /// them fails as before. Call it before anything is opened.
    package static func occupy() {
        for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
