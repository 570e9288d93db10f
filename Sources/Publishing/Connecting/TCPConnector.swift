internal import CRTMPSocket
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Connects to the first of several addresses that answers (Happy Eyeballs, RFC 8305). Attempts start one after another
/// without waiting for earlier ones to end. A dead family or address costs a quarter of a second.
struct TCPConnector {
    /// The kernel's send buffer in bytes, before the kernel doubles it for bookkeeping. It holds about half a second of
    /// video, so that congestion shows early. The default grows to 4 MiB, which would be charged to the process's
    /// cgroup.
    static let sendBufferBytes: CInt = 256 * 1024
    /// Servers send little. If one sends a flood, this buffer fills, and the rest waits at the server.
    static let receiveBufferBytes: CInt = 32 * 1024
    /// The most that both buffers take: the kernel doubles them.
    static let kernelBytes = 2 * Int(sendBufferBytes + receiveBufferBytes)
    /// The least TCP_USER_TIMEOUT: the kernel drops a connection whose sent bytes stay unacknowledged for that time. A
    /// fallback for our own deadlines.
    static let leastUserTimeout = MediaTime.seconds(15)
    /// The time between the starts of two attempts (RFC 8305, section 8). After a failure, the next attempt starts at
    /// once.
    static let attemptDelay = MediaTime.milliseconds(250)
    /// The most addresses that are tried, and the most attempts at a time.
    static let maximumAttempts = Int(UPCAST_WAIT_MAXIMUM)

    /// An address that does not answer for this long is given up.
    var addressTimeout: MediaTime
    /// Our own deadline for bytes that do not leave. It is shorter than the kernel's.
    var sendTimeout = MediaTime.zero
    var clock: any TimeSource
    var control: PublishControl

    private var userTimeout: MediaTime { max(Self.leastUserTimeout, sendTimeout + .seconds(1)) }

    /// Returns a connected, non-blocking socket, and closes all other attempts.
    ///
    /// - Parameter addresses: in the order in which to try them; only the first `maximumAttempts` are tried.
    /// - Throws: `connect` or `connectTimeout` with the result of each address, or `cancelled`.
    func connect(to addresses: [SocketAddress], until deadline: MediaTime) throws(PublishError) -> OwnedDescriptor {
        let addresses = addresses.prefix(Self.maximumAttempts)
        var outcomes = [Outcome](repeating: .notTried, count: addresses.count)
        var waiting = addresses.indices[...]
        var attempts: [Attempt] = []
        var nextStart = clock.now()
        while true {
            let now = clock.now()
            guard now < deadline, !(waiting.isEmpty && attempts.isEmpty) else { break }
            if let index = waiting.first, attempts.isEmpty || now >= nextStart {
                waiting.removeFirst()
                nextStart = now + Self.attemptDelay
                do {
                    attempts.append(
                        try Attempt(
                            index, addresses[index], until: now + addressTimeout, userTimeout: userTimeout))
                    outcomes[index] = .unanswered
                } catch {
                    outcomes[index] = .refused(error)
                    nextStart = now
                }
            }
            let wake = attempts.map(\.deadline).min() ?? now
            switch control.wait(
                for: POLLOUT, onAnyOf: attempts.map(\.raw),
                until: min(deadline, wake, waiting.isEmpty ? deadline : nextStart))
            {
            case .cancelled:
                let names = attempts.map { addresses[$0.index].description }.joined(separator: ", ")
                throw PublishError(.cancelled, "connecting to \(names.isEmpty ? "the server" : names) was cancelled")
            case .timeout:
                let later = clock.now()
                let expired = attempts.count { $0.deadline <= later }
                attempts.removeAll { $0.deadline <= later }
                if expired > 0 { nextStart = later }
            case .ready(let ready):
                for attempt in ready.map({ attempts[$0] }) {
                    guard let error = attempt.error else { return attempt.takeDescriptor() }
                    outcomes[attempt.index] = .refused(error)
                    attempts.removeAll { $0 === attempt }
                    nextStart = clock.now()
                }
            }
        }
        let words = zip(addresses, outcomes).map { address, outcome in
            switch outcome {
            case .notTried: "\(address) was not tried for lack of time"
            case .unanswered: "\(address) did not answer"
            case .refused(let error): "\(address): \(error)"
            }
        }
        let isTimeout = outcomes.contains { if case .refused = $0 { false } else { true } }
        throw PublishError(isTimeout ? .connectTimeout : .connect, "cannot connect: \(words.joined(separator: ", "))")
    }

    private enum Outcome {
        case notTried
        case unanswered
        case refused(Errno)
    }

    private final class Attempt {
        let index: Int
        let deadline: MediaTime
        let raw: CInt
        private var descriptor: OwnedDescriptor?

        /// Starts to connect; throws if that fails at once.
        init(
            _ index: Int, _ address: SocketAddress, until deadline: MediaTime, userTimeout: MediaTime
        ) throws(Errno) {
            self.index = index
            self.deadline = deadline
            let family = address.family == .v6 ? AF_INET6 : AF_INET
            raw = socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            guard raw >= 0 else { throw Errno.current }
            descriptor = OwnedDescriptor(raw)
            // The handshake announces the buffer sizes, so they are set before it.
            set(SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
            set(SOL_SOCKET, SO_RCVBUF, receiveBufferBytes)
            set(CInt(IPPROTO_TCP), TCP_NODELAY, CInt(1))
            set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, CUnsignedInt(userTimeout.milliseconds))
            guard unsafe address.withPointer({ unsafe Glibc.connect(raw, $0, $1) }) != 0 else { return }
            guard Errno.current.code == EINPROGRESS else { throw Errno.current }
        }

        /// Why the attempt failed; nil if the socket is connected. Call it when the attempt has ended.
        var error: Errno? {
            var outcome: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            guard unsafe getsockopt(raw, SOL_SOCKET, SO_ERROR, &outcome, &length) == 0 else { return Errno.current }
            return outcome == 0 ? nil : Errno(outcome)
        }

        /// Returns the connected socket; call it once.
        func takeDescriptor() -> OwnedDescriptor { descriptor.take()! }

        /// Ignores errors, because publishing works without these options.
        private func set<Value: BitwiseCopyable>(_ level: CInt, _ option: CInt, _ value: Value) {
            var value = value
            _ = unsafe setsockopt(raw, level, option, &value, socklen_t(MemoryLayout<Value>.size))
        }
    }
}
