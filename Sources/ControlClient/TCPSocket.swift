internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Connects to a host and port by TCP. It tries every address of the name in the resolver's order, until the deadline.
/// Each address gets an equal part of the time that is left. The look-up of the name takes as long as the system's
/// resolver needs.
enum TCPSocket {
    static func connect(
        host: String, port: Int, deadline: MediaTime
    ) throws(ControlClientError) -> OwnedDescriptor {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = unsafe getaddrinfo(host, "\(port)", &hints, &list)
        guard failure == 0 else {
            let why = unsafe String(cString: gai_strerror(failure))
            throw .unreachable("the address of \(host) cannot be found: \(why)")
        }
        defer { unsafe freeaddrinfo(list) }
        var lastError = Errno(ETIMEDOUT)
        var left = 0
        var next = unsafe list
        while let candidate = unsafe next {
            left += 1
            unsafe next = candidate.pointee.ai_next
        }
        unsafe next = list
        while let candidate = unsafe next {
            unsafe next = candidate.pointee.ai_next
            let now = ControlConnection.clock.now()
            let share = MediaTime(nanoseconds: (deadline - now).nanoseconds / Int64(left))
            left -= 1
            let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let raw = unsafe socket(candidate.pointee.ai_family, kind, 0)
            guard raw >= 0 else {
                lastError = Errno.current
                continue
            }
            let descriptor = OwnedDescriptor(raw)
            if unsafe Glibc.connect(raw, candidate.pointee.ai_addr, candidate.pointee.ai_addrlen) == 0 {
                return descriptor
            }
            lastError = Errno.current
            guard lastError.code == EINPROGRESS else { continue }
            guard ControlConnection.wait(for: CInt(POLLOUT), of: raw, until: now + share) else {
                lastError = Errno(ETIMEDOUT)
                continue
            }
            var (code, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
            unsafe getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length)
            if code == 0 { return descriptor }
            lastError = Errno(code)
        }
        switch lastError.code {
        case ECONNREFUSED:
            throw .unreachable(
                "nothing listens at \(place): upcastd is not running, or control.listen names another address")
        case ETIMEDOUT: throw .unreachable("\(place) took no connection in time")
        default: throw .unreachable("cannot connect to \(place): \(lastError)")
        }
    }
}
