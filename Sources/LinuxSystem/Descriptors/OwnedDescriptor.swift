internal import Glibc

/// Owns a file descriptor and closes it in `deinit`. Descriptors are created close-on-exec.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, for C calls during the owner's lifetime.
    package let raw: CInt

    /// Takes ownership of `raw`, which must be open and have no other owner.
    package init(_ raw: CInt) { self.raw = raw }

    /// Takes ownership of the result of a C call. A negative result throws errno.
    package init(checking raw: CInt) throws(Errno) {
        guard raw >= 0 else { throw Errno.current }
        self.raw = raw
    }

    deinit {
        // EBADF means that the number was closed twice, and may belong to another owner now.
        if close(raw) != 0 { precondition(errno != EBADF, "descriptor closed twice") }
    }

    /// Releases ownership without closing.
    package consuming func relinquish() -> CInt {
        let number = raw
        discard self
        return number
    }
}
