import Foundation
import Glibc
import LinuxSystem

/// Free TCP ports on 127.0.0.1.
package enum LoopbackPorts {
    /// Below those that the kernel gives to outgoing connections: none of them can take a port between the look and the
    /// server's start. The first is drawn, because other tests may run on this machine.
    private static let candidates: Range<Int> = {
        let path = "/proc/sys/net/ipv4/ip_local_port_range"
        let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let lowest = text.split { $0.isWhitespace }.first.flatMap { Int($0) } ?? 32_768
        return max(1024, lowest - 16_384)..<max(lowest, 16_384)
    }()
    private static let next = Monitor(Int.random(in: candidates))

    /// A port that nobody listens at now and that this process has not handed out before.
    package static func free() throws -> Int {
        for _ in candidates {
            let port = next.withLock { next in
                next = next + 1 < candidates.upperBound ? next + 1 : candidates.lowerBound
                return next
            }
            let socket = try tcpSocket()
            if withAddress(port: port, { bind(socket.raw, $0, $1) }) == 0 { return port }
        }
        throw TestFailure("no free port on 127.0.0.1")
    }

    /// Whether this machine has ::1.
    package static let hasIPv6: Bool = {
        guard let text = FileManager.default.contents(atPath: "/proc/net/if_inet6") else { return false }
        return String(decoding: text, as: UTF8.self).contains("00000000000000000000000000000001 ")
    }()

    /// True where something accepts connections at the port.
    package static func isListening(_ port: Int) -> Bool {
        guard let socket = try? tcpSocket() else { return false }
        return withAddress(port: port) { Glibc.connect(socket.raw, $0, $1) } == 0
    }

    /// A blocking connection to whoever listens at the port.
    static func connect(_ port: Int) throws -> OwnedDescriptor {
        let socket = try tcpSocket()
        guard withAddress(port: port, { Glibc.connect(socket.raw, $0, $1) }) == 0 else { throw Errno.current }
        return socket
    }

    static func tcpSocket() throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor(checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    }

    static func withAddress(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
