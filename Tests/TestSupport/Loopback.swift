import Foundation
import Glibc
package import LinuxSystem

/// TCP on 127.0.0.1.
package enum Loopback {
    /// The ports below those that the kernel gives to outgoing connections. So no connection can take a port before the
    /// server starts. The first port is random, because other tests may run on this machine.
    private static let candidates: Range<UInt16> = {
        let path = "/proc/sys/net/ipv4/ip_local_port_range"
        let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let lowest = text.split { $0.isWhitespace }.first.flatMap { UInt16($0) } ?? 32_768
        return (lowest > 17_408 ? lowest - 16_384 : 1024)..<max(lowest, 16_384)
    }()
    private static let next = Monitor(UInt16.random(in: candidates))

    /// A port without a listener that this process has not returned before.
    package static func freePort() throws -> UInt16 {
        for _ in candidates {
            let port = next.withLock { next in
                next = next + 1 < candidates.upperBound ? next + 1 : candidates.lowerBound
                return next
            }
            let socket = try tcpSocket()
            if (try? bind(socket.raw, to: port)) != nil { return port }
        }
        throw TestFailure("no free port on 127.0.0.1")
    }

    /// Whether this machine has ::1.
    package static let hasIPv6: Bool = {
        guard let text = FileManager.default.contents(atPath: "/proc/net/if_inet6") else { return false }
        return String(decoding: text, as: UTF8.self).contains("00000000000000000000000000000001 ")
    }()

    package static func tcpSocket() throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor(checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    }

    // MARK: Servers

    /// Binds a socket to a port.
    ///
    /// - Parameter port: 0 for any that is free now.
    /// - Returns: the port of the socket.
    @discardableResult
    package static func bind(_ descriptor: CInt, to port: UInt16 = 0) throws(Errno) -> UInt16 {
        var address = address(port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Errno.current }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Whether a server accepts connections at the port.
    package static func isListening(_ port: UInt16) -> Bool { (try? connect(port)) != nil }

    package static func waitForListener(at port: UInt16) throws {
        try waitFor("a listener at port \(port)", within: 30) { isListening(port) }
    }

    /// Waits for a listener by reading the kernel's table. A server that accepts only one connection must not be tried.
    package static func waitForUntriedListener(at port: UInt16, isIPv6: Bool = false) throws {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let anyone = String(repeating: "0", count: isIPv6 ? 32 : 8) + ":0000"
        let entry = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal + " \(anyone) 0A"
        try waitFor("a listener at port \(port)", within: 30) {
            let table = FileManager.default.contents(atPath: isIPv6 ? "/proc/net/tcp6" : "/proc/net/tcp") ?? Data()
            return String(decoding: table, as: UTF8.self).contains(entry)
        }
    }

    // MARK: Clients

    /// Opens a blocking connection to the listener at the port.
    package static func connect(_ port: UInt16) throws(Errno) -> OwnedDescriptor {
        let socket = try tcpSocket()
        guard connect(socket.raw, to: port) else { throw Errno.current }
        return socket
    }

    /// Connects a socket. False sets `errno`.
    @discardableResult
    package static func connect(_ descriptor: CInt, to port: UInt16) -> Bool {
        var address = address(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }
}
