internal import CRTMPSocket
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Connects to the first of several addresses that answers (Happy Eyeballs, RFC 8305): attempts start one after the
/// other without waiting for each other's end, and a family or an address that is dead costs a quarter of a second.
struct TCPConnector {
    /// What the kernel may hold unsent, before it doubles it for its own bookkeeping: about half a second of video, so
    /// that congestion shows early; the default grows to 4 MB, which would be charged to the process's cgroup.
    static let sendBufferBytes: CInt = 256 * 1024
    /// Servers say little; what one sends in a flood waits with it.
    static let receiveBufferBytes: CInt = 32 * 1024
    /// The kernel gives a connection up when sent bytes stay unacknowledged for as long, at least; a backstop to our
    /// deadlines.
    static let leastUserTimeout = MediaTime.seconds(15)
    /// After the start of one attempt, that of the next (RFC 8305, section 8); a failure starts the next at once.
    static let attemptDelay = MediaTime.milliseconds(250)
    /// Addresses tried, and attempts under way at a time.
    static let maximumAttempts = Int(UPCAST_WAIT_MAXIMUM)

    /// An address that did not answer for so long is given up.
    var addressTimeout: MediaTime
    /// Our own deadline for bytes that do not leave, which comes first.
    var sendTimeout = MediaTime.zero
    var clock: any TimeSource
    var control: PublishControl

    private var userTimeout: MediaTime { max(Self.leastUserTimeout, sendTimeout + .seconds(1)) }

    /// A connected, non-blocking socket; every other attempt is closed.
    ///
    /// - Parameter addresses: in the order to try them; the first `maximumAttempts` are.
    /// - Throws: `connect` or `connectTimeout` with what became of each address, or `cancelled`.
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

    /// A connection that is being made to one address.
    private final class Attempt {
        let index: Int
        let deadline: MediaTime
        let raw: CInt
        private var descriptor: OwnedDescriptor?

        /// Starts connecting; throws where that fails at once.
        init(
            _ index: Int, _ address: SocketAddress, until deadline: MediaTime, userTimeout: MediaTime
        ) throws(Errno) {
            self.index = index
            self.deadline = deadline
            let family = address.family == .v6 ? AF_INET6 : AF_INET
            raw = socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            guard raw >= 0 else { throw Errno.current }
            descriptor = OwnedDescriptor(raw)
            // The buffers' sizes go into the handshake, so they are set before it.
            set(SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
            set(SOL_SOCKET, SO_RCVBUF, receiveBufferBytes)
            set(CInt(IPPROTO_TCP), TCP_NODELAY, CInt(1))
            set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, CUnsignedInt(userTimeout.milliseconds))
            guard unsafe address.withPointer({ unsafe Glibc.connect(raw, $0, $1) }) != 0 else { return }
            guard Errno.current.code == EINPROGRESS else { throw Errno.current }
        }

        /// Why a connection that is not being made any more failed; nil where it was made.
        var error: Errno? {
            var outcome: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            guard unsafe getsockopt(raw, SOL_SOCKET, SO_ERROR, &outcome, &length) == 0 else { return Errno.current }
            return outcome == 0 ? nil : Errno(outcome)
        }

        /// The connected socket; once.
        func takeDescriptor() -> OwnedDescriptor { descriptor.take()! }

        /// None of these options decides whether publishing works, so a kernel without one is no error.
        private func set<Value: BitwiseCopyable>(_ level: CInt, _ option: CInt, _ value: Value) {
            var value = value
            _ = unsafe setsockopt(raw, level, option, &value, socklen_t(MemoryLayout<Value>.size))
        }
    }
}
