import Glibc
import LinuxSystem
import MediaCore
import TestSupport
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
        self.init(try Loopback.connect(port))
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
        descriptor = try Loopback.tcpSocket()
        port = try Loopback.bind(descriptor.raw)
        guard listen(descriptor.raw, 8) == 0 else { throw Errno.current }
    }

    func accept() throws(Errno) -> Endpoint {
        var ready = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 20_000) == 1 else { throw Errno(ETIMEDOUT) }
        return Endpoint(try OwnedDescriptor(checking: Glibc.accept(descriptor.raw, nil, nil)))
    }
}
