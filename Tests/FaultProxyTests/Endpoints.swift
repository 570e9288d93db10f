import Glibc
import LinuxSystem
import MediaCore
import Testing

/// A blocking TCP connection of a test's own, whose waits end after a generous time.
final class Endpoint {
    let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) {
        self.descriptor = descriptor
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(self.descriptor.raw, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Connects to a port of 127.0.0.1.
    convenience init(connectingTo port: UInt16) throws(Errno) {
        let new = try OwnedDescriptor(checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        let raw = new.raw
        self.init(new)
        guard Loopback.withAddress(port: port, { connect(raw, $0, $1) }) == 0 else { throw Errno.current }
    }

    /// Sends all of it.
    func send(_ bytes: [UInt8]) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor.raw, $0.baseAddress! + done, $0.count - done, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Errno.current }
            done += count
        }
    }

    /// As many bytes as asked for; fewer where the other side closes.
    func receive(_ count: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(descriptor.raw, $0.baseAddress! + filled, count - filled, 0)
            }
            guard got >= 0 else { throw Errno.current }
            if got == 0 { break }
            filled += got
        }
        return Array(bytes.prefix(filled))
    }

    /// Sends until the kernel takes no more and has not for `quiet` milliseconds; returns how many bytes that were.
    func fill(quiet: CInt) -> Int {
        let junk = [UInt8](repeating: 7, count: 16 * 1024)
        var total = 0
        while true {
            let count = Glibc.send(descriptor.raw, junk, junk.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count > 0 {
                total += count
                continue
            }
            var writable = pollfd(fd: descriptor.raw, events: Int16(POLLOUT), revents: 0)
            if poll(&writable, 1, quiet) == 0 { return total }
        }
    }
}

/// A server on loopback whose connections a test takes one by one.
final class Listener {
    let port: UInt16
    private let descriptor: OwnedDescriptor

    init() throws(Errno) {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = try OwnedDescriptor(checking: socket(AF_INET, type, 0))
        port = try Loopback.bind(descriptor.raw)
        guard listen(descriptor.raw, 8) == 0 else { throw Errno.current }
    }

    func accept() throws(Errno) -> Endpoint {
        var ready = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 20_000) == 1 else { throw Errno(ETIMEDOUT) }
        return Endpoint(try OwnedDescriptor(checking: Glibc.accept(descriptor.raw, nil, nil)))
    }
}

enum Loopback {
    /// Binds to a free port of 127.0.0.1.
    static func bind(_ descriptor: CInt) throws(Errno) -> UInt16 {
        var port = UInt16(0)
        let result = withAddress(port: 0) { address, length in
            var length = length
            guard Glibc.bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else {
                return -1
            }
            port = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
            return 0
        }
        guard result == 0 else { throw Errno.current }
        return port
    }

    static func withAddress(port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
