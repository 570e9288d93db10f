internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Connects to the first of several addresses that answers, within one deadline.
enum TCPConnector {
    /// What the kernel may hold unsent: about half a second of video, so that congestion shows early; the default grows
    /// to 4 MB, which would be charged to the process's cgroup.
    static let sendBufferBytes: CInt = 256 * 1024
    /// The kernel gives a connection up when sent bytes stay unacknowledged for as long; a backstop to our deadlines.
    static let userTimeoutMilliseconds: CUnsignedInt = 15_000

    /// A connected, non-blocking socket.
    ///
    /// Each address gets an equal share of the time that is left when its turn comes.
    static func connect(
        to addresses: [SocketAddress], clock: any TimeSource, control: PublishControl, until deadline: MediaTime
    ) throws(PublishError) -> OwnedDescriptor {
        var attempts: [String] = []
        var timedOut = false
        for (index, address) in addresses.enumerated() {
            let now = clock.now()
            guard now < deadline else { break }
            let share = MediaTime(nanoseconds: (deadline - now).nanoseconds / Int64(addresses.count - index))
            do {
                return try attempt(address, control: control, until: now + share)
            } catch {
                switch error {
                case .cancelled: throw PublishError(.cancelled, "connecting to \(address) was cancelled")
                case .timeout:
                    timedOut = true
                    attempts.append("\(address) did not answer")
                case .refused(let errno): attempts.append("\(address): \(errno)")
                }
            }
        }
        throw PublishError(timedOut ? .connectTimeout : .connect, "cannot connect: \(attempts.joined(separator: ", "))")
    }

    private enum AttemptFailure: Error {
        case cancelled
        case timeout
        case refused(Errno)
    }

    private static func attempt(
        _ address: SocketAddress, control: PublishControl, until deadline: MediaTime
    ) throws(AttemptFailure) -> OwnedDescriptor {
        let family = address.family == .v6 ? AF_INET6 : AF_INET
        let raw = socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard raw >= 0 else { throw .refused(Errno.current) }
        let descriptor = OwnedDescriptor(raw)
        set(raw, SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
        set(raw, CInt(IPPROTO_TCP), TCP_NODELAY, CInt(1))
        set(raw, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeoutMilliseconds)

        let result = unsafe address.withPointer { unsafe Glibc.connect(raw, $0, $1) }
        if result == 0 { return descriptor }
        let error = Errno.current
        guard error.code == EINPROGRESS else { throw .refused(error) }
        switch control.wait(for: POLLOUT, on: raw, until: deadline) {
        case .cancelled: throw .cancelled
        case .timeout: throw .timeout
        case .ready: break
        }
        var outcome: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(raw, SOL_SOCKET, SO_ERROR, &outcome, &length) == 0 else {
            throw .refused(Errno.current)
        }
        guard outcome == 0 else { throw .refused(Errno(outcome)) }
        return descriptor
    }

    /// None of these options decides whether publishing works, so a kernel without one is no error.
    private static func set<Value: BitwiseCopyable>(_ socket: CInt, _ level: CInt, _ option: CInt, _ value: Value) {
        var value = value
        _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Value>.size))
    }
}
