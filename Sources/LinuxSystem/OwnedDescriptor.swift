internal import Glibc

/// Owner of a file descriptor: closes it when it goes away. Descriptors are created close-on-exec.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, for C calls made while the owner lives.
    package let raw: CInt

    /// Takes over `raw`, which must be open and owned by nobody else.
    package init(_ raw: CInt) { self.raw = raw }

    /// Takes over the result of a C call; a negative result throws errno.
    package init(checking raw: CInt) throws(Errno) {
        guard raw >= 0 else { throw Errno.current }
        self.raw = raw
    }

    deinit {
        // EBADF here means that a number was closed twice, and may by now belong to somebody else.
        if close(raw) != 0 { precondition(errno != EBADF, "descriptor closed twice") }
    }

    /// Gives the number up without closing it.
    package consuming func relinquish() -> CInt {
        let number = raw
        discard self
        return number
    }
}
