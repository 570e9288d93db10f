internal import Glibc

/// An errno with its text; thrown by all functions here that call the kernel.
package struct Errno: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: CInt
    package init(_ code: CInt) { self.code = code }
    /// The calling thread's errno; read it directly after the call that set it.
    package static var current: Errno { Errno(errno) }
    /// The C library's text, such as "No such file or directory".
    package var description: String { unsafe String(cString: strerror(code)) }
}
