import Glibc
import LinuxSystem

/// TCP on 127.0.0.1, never blocking, that takes little ahead: what the kernel keeps is delay that no command asked for.
enum LoopbackSocket {
    /// With less, a keyframe takes so many turns of this thread that a busy machine makes a slow link of a free one.
    static let receiveBufferBytes = 32 * 1024
    private static let sendBufferBytes: CInt = 128 * 1024
    /// As on Ethernet. Loopback's own is 64 KiB, which goes badly with small windows.
    private static let segmentBytes: CInt = 1448

    /// A socket that is connected to nothing.
    static func make() throws(Errno) -> OwnedDescriptor {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = try OwnedDescriptor(checking: socket(AF_INET, type, 0))
        // Accepted sockets inherit all of it.
        set(descriptor.raw, SOL_SOCKET, SO_RCVBUF, CInt(receiveBufferBytes))
        set(descriptor.raw, SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
        set(descriptor.raw, CInt(IPPROTO_TCP), TCP_MAXSEG, segmentBytes)
        set(descriptor.raw, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
        return descriptor
    }

    /// A listening socket.
    ///
    /// - Parameters:
    ///   - port: 0 for a free one; it is set to the one that was taken.
    ///   - backlog: connections that the kernel accepts ahead of us.
    static func listen(port: inout UInt16, backlog: CInt) throws(Errno) -> OwnedDescriptor {
        let descriptor = try make()
        let raw = descriptor.raw
        set(raw, SOL_SOCKET, SO_REUSEADDR, 1)
        var taken = port
        let result = withAddress(port: port) { address, length in
            var length = length
            guard bind(raw, address, length) == 0, Glibc.listen(raw, backlog) == 0,
                getsockname(raw, address, &length) == 0
            else { return CInt(-1) }
            taken = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
            return 0
        }
        guard result == 0 else { throw Errno.current }
        port = taken
        return descriptor
    }

    /// A socket that is connecting; `connectError` tells once it can be written to.
    static func connect(to port: UInt16) throws(Errno) -> OwnedDescriptor {
        let descriptor = try make()
        let raw = descriptor.raw
        let result = withAddress(port: port) { Glibc.connect(raw, $0, $1) }
        guard result == 0 || errno == EINPROGRESS else { throw Errno.current }
        return descriptor
    }

    static func connectError(of descriptor: CInt) -> CInt {
        var error: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// The kernel takes twice as much, and tells the sender of room only when nearly all of it is free.
    static func setReceiveBuffer(_ descriptor: CInt, bytes: Int) {
        set(descriptor, SOL_SOCKET, SO_RCVBUF, CInt(bytes))
    }

    /// Closing will send a RST.
    static func makeAbortive(_ descriptor: CInt) {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func withAddress(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
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
