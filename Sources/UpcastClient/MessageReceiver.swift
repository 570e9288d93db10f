internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// The way in: puts the daemon's messages together and remembers how the connection ended.
///
/// One thread at a time reads; another one waits for it. What ends the connection is remembered, so that whoever comes
/// later is told the same.
final class MessageReceiver: Sendable {
    enum Incoming {
        case welcome(WelcomeMessage)
        case event(CaptureEvent)
        /// Ends the connection; `next` throws it.
        case fatal(ErrorMessage)
    }

    private struct State {
        /// The message that is being read, from its header on.
        var bytes: [UInt8] = []
        /// Bytes of a payload that is passed over.
        var skip = 0
        var nextSequence: UInt32 = 0
        var end: End?
        /// What was read in passing and nobody has asked for yet.
        var unread: [Incoming] = []
    }

    enum End {
        case goodbye(CaptureGoodbye)
        case failure(CaptureError)
    }

    /// Of a client that does not ask, the oldest go.
    private static let maxUnread = 256

    private let socket: CInt
    private let pool: FramePool
    private let state = Monitor(State())
    /// Threads that read now, or wait for their turn.
    private let readers = Monitor(0)

    /// - Parameters:
    ///   - socket: open for as long as this lives.
    ///   - pool: is told what concerns it.
    init(socket: CInt, pool: FramePool) {
        self.socket = socket
        self.pool = pool
    }

    /// The next message, or nil when `deadline` (CLOCK_MONOTONIC) has passed; a deadline in the past only looks.
    func next(until deadline: MediaTime) throws(CaptureError) -> Incoming? {
        readers.withLock { $0 += 1 }
        defer { readers.withLock { $0 -= 1 } }
        return try state.withLock { state throws(CaptureError) in
            if !state.unread.isEmpty { return state.unread.removeFirst() }
            if let known = try Self.known(state.end) { return known }
            do throws(CaptureError) {
                return try read(&state, until: deadline)
            } catch {
                state.end = .failure(error)
                throw error
            }
        }
    }

    /// Takes note of what has come, for the pool's sake; never waits. A thread that reads does so anyway.
    func glance() {
        guard readers.withLock({ $0 == 0 }) else { return }
        state.withLock { state in
            guard state.end == nil else { return }
            do throws(CaptureError) {
                while let incoming = try read(&state, until: .zero) {
                    if state.unread.count == Self.maxUnread { state.unread.removeFirst() }
                    state.unread.append(incoming)
                }
            } catch {
                state.end = .failure(error)
            }
        }
    }

    private static func known(_ end: End?) throws(CaptureError) -> Incoming? {
        switch end {
        case .goodbye(let goodbye): return .event(.goodbye(goodbye))
        case .failure(let error): throw error
        case nil: return nil
        }
    }

    // MARK: Reading

    private func read(_ state: inout State, until deadline: MediaTime) throws(CaptureError) -> Incoming? {
        while true {
            let wanted = try missing(state)
            if wanted == 0 {
                if let incoming = try decode(&state) { return incoming }
                continue
            }
            guard try fill(&state, wanted, until: deadline) else { return nil }
        }
    }

    /// Bytes that the message, as far as it is known, still needs.
    private func missing(_ state: State) throws(CaptureError) -> Int {
        if state.skip > 0 { return state.skip }
        guard state.bytes.count >= MessageHeader.byteCount else { return MessageHeader.byteCount - state.bytes.count }
        return MessageHeader.byteCount + (try header(state)).bodyBytes - state.bytes.count
    }

    private func header(_ state: State) throws(CaptureError) -> MessageHeader {
        do throws(ProtocolError) {
            return try unsafe MessageHeader.decode(state.bytes.span.bytes, limits: .default)
        } catch {
            throw Self.violation(error.message)
        }
    }

    /// Reads at most `wanted` bytes; false when the deadline passed first.
    private func fill(_ state: inout State, _ wanted: Int, until deadline: MediaTime) throws(CaptureError) -> Bool {
        guard waitForInput(until: deadline) else { return false }
        return try unsafe withUnsafeTemporaryAllocation(byteCount: min(wanted, 4096), alignment: 1) {
            buffer throws(CaptureError) in
            let count = unsafe recv(socket, buffer.baseAddress!, buffer.count, CInt(MSG_DONTWAIT))
            if count > 0 {
                if state.skip > 0 {
                    state.skip -= count
                } else {
                    unsafe state.bytes.append(contentsOf: buffer[..<count])
                }
                return true
            }
            if count < 0, errno == EAGAIN || errno == EINTR { return true }
            let why = count == 0 ? "it closed the connection" : "\(Errno.current)"
            throw CaptureError(.disconnected, "the daemon is gone without a goodbye: \(why)")
        }
    }

    private func waitForInput(until deadline: MediaTime) -> Bool {
        while true {
            let left = max(0, (deadline - MonotonicClock().now()).milliseconds + 1)
            var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&descriptor, 1, CInt(min(left, Int64(CInt.max))))
            if ready > 0 { return true }
            if ready == 0 { return false }
            if errno != EINTR { return true }
        }
    }

    // MARK: Understanding

    /// Decodes the message that is complete and makes room for the next; nil for one that is passed over.
    private func decode(_ state: inout State) throws(CaptureError) -> Incoming? {
        let header = try header(state)
        guard header.sequence == state.nextSequence else {
            throw Self.violation("its message \(header.sequence) came where \(state.nextSequence) was next")
        }
        state.nextSequence &+= 1
        state.skip = header.payloadBytes
        defer { state.bytes.removeAll(keepingCapacity: true) }
        let incoming: Incoming?
        do throws(ProtocolError) {
            let body = unsafe state.bytes.span.bytes.extracting(MessageHeader.byteCount...)
            incoming = try decode(header.type, body: body)
        } catch {
            throw Self.violation(error.message)
        }
        if case .fatal(let message) = incoming { throw CaptureError(message) }
        if case .event(.goodbye(let goodbye)) = incoming { state.end = .goodbye(goodbye) }
        return incoming
    }

    private func decode(_ type: MessageType?, body: RawSpan) throws(ProtocolError) -> Incoming? {
        switch type {
        case .welcome:
            let message = try WelcomeMessage.decode(body: body)
            pool.offer = message.sharedMemory
            pool.takesDamage = message.takesDamage
            return .welcome(message)
        case .state:
            let message = try StateMessage.decode(body: body)
            return .event(.state(CaptureState(message.state), value: Int(message.value), text: message.text))
        case .error:
            let message = try ErrorMessage.decode(body: body)
            if message.isFatal { return .fatal(message) }
            // Whatever was refused: what comes next is sent whole.
            pool.forgetLatest()
            // Our own word for a picture, not the application's.
            if message.code == .unknownPicture { return nil }
            // From now on pictures are sent.
            if message.code == .badSharedMemory { pool.offer = nil }
            return .event(
                .refused(daemonCode: message.codeRaw, sequence: message.refersTo, text: message.text))
        case .counters: return .event(.counters(CaptureCounters(try CountersMessage.decode(body: body))))
        case .goodbye: return .event(.goodbye(CaptureGoodbye(try GoodbyeMessage.decode(body: body))))
        case .released:
            pool.released(try ReleasedMessage.decode(body: body))
            return nil
        case nil: return nil
        case .some(let type):
            throw ProtocolError(.unexpectedMessage, fatal: true, "it sent \(type), which is a client's message")
        }
    }

    private static func violation(_ what: String) -> CaptureError {
        CaptureError(.disconnected, "the daemon does not keep to the protocol: \(what)")
    }
}
