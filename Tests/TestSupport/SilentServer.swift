import Glibc
import LinuxSystem

/// A TCP server on loopback whose kernel accepts connections and that never reads nor writes.
package final class SilentServer: Sendable {
    package let port: Int
    private let listener: OwnedDescriptor

    package init() throws {
        let port = try LoopbackPorts.free()
        listener = try OwnedDescriptor(
            checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let descriptor = listener.raw
        let listens = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(descriptor, 8) == 0
            }
        }
        guard listens else { throw Errno.current }
        self.port = port
    }
}
