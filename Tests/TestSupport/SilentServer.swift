import Glibc
import LinuxSystem

/// A TCP server on loopback whose kernel accepts connections, but that never reads or writes.
package final class SilentServer: Sendable {
    package let port: UInt16
    private let listener: OwnedDescriptor

    package init() throws {
        port = try Loopback.freePort()
        listener = try Loopback.tcpSocket()
        try Loopback.bind(listener.raw, to: port)
        guard listen(listener.raw, 8) == 0 else { throw Errno.current }
    }
}
