import Foundation
import Glibc
import LinuxSystem
import MediaCore
import TestSupport

/// Ports on the loopback address.
enum Loopback {
    /// A port without a listener.
    static func freePort() throws -> UInt16 { UInt16(try LoopbackPorts.free()) }

    /// Binds to a free port of 127.0.0.1.
    static func bind(_ descriptor: CInt) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw Errno.current }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Connects repeatedly until the port answers.
    static func waitForListener(at port: UInt16) throws {
        try waitFor("a listener at port \(port)", within: 30) {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            return connect(descriptor, to: port)
        }
    }

    /// Connects a socket to a port of 127.0.0.1.
    @discardableResult
    static func connect(_ descriptor: CInt, to port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

extension Loopback {
    /// Waits for a listener by reading the kernel's table: one that accepts a single connection must not be tried.
    static func waitForUntriedListener(at port: UInt16, isIPv6: Bool = false) throws {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let anyone = String(repeating: "0", count: isIPv6 ? 32 : 8) + ":0000"
        let entry = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal + " \(anyone) 0A"
        try waitFor("a listener at port \(port)", within: 30) {
            let table = FileManager.default.contents(atPath: isIPv6 ? "/proc/net/tcp6" : "/proc/net/tcp") ?? Data()
            return String(decoding: table, as: UTF8.self).contains(entry)
        }
    }
}
