import Glibc
import LinuxSystem

/// A TCP server on loopback whose kernel accepts connections and that never reads nor writes.
package final class SilentServer: Sendable {
    package let port: Int
    private let listener: OwnedDescriptor

    package init() throws {
        port = try LoopbackPorts.free()
        listener = try LoopbackPorts.tcpSocket()
        let descriptor = listener.raw
        let bound = LoopbackPorts.withAddress(port: port) { bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, 8) == 0 else { throw Errno.current }
    }
}
