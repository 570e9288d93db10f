internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// Receives the daemon's messages, and remembers how the connection ended.
///
/// Any thread may wait. One of the waiting threads polls the socket, and the others wait for what it reads. The end of
/// the connection is remembered, so that later calls report the same.
final class MessageReceiver: Sendable {
    private enum End {
        case goodbye(CaptureGoodbye)
        case failure(CaptureError)
    }

    private struct State {
        /// The message that is being read, from its header on.
        var bytes: [UInt8] = []
        /// Bytes of a payload that are still to be skipped.
        var skip = 0
        var nextSequence: UInt32 = 0
        var welcome: WelcomeMessage?
        /// Events that nobody has taken yet; the goodbye is in `end`.
        var unread: [CaptureEvent] = []
        var end: End?
        /// A thread polls the socket, without the lock.
        var isPolling = false
        /// The number of iterations of `CaptureConnection.events`.
        var listeners = 0
        /// When something last came; zero for never.
        var heard = MediaTime.zero

        /// The daemon's goodbye, if it has said one.
        var goodbye: CaptureGoodbye? { if case .goodbye(let goodbye)? = end { goodbye } else { nil } }
    }

    /// If the client does not read its events, the oldest are dropped.
    private static let maxUnread = 256

    private let socket: CInt
    private let pool: FramePool
    private let state = Monitor(State())

    /// - Parameters:
    ///   - socket: open for as long as this object lives.
    ///   - pool: told what the daemon says about shared memory.
    init(socket: CInt, pool: FramePool) {
        self.socket = socket
        self.pool = pool
    }

    // MARK: Waiting

    /// The answer to `started`.
    enum Answer {
        case welcome(WelcomeMessage)
        case goodbye(CaptureGoodbye)
    }

    /// The answer to `started`; nil when `deadline` (CLOCK_MONOTONIC) has passed or `interrupt` is set. Events stay.
    func answer(until deadline: MediaTime, _ interrupt: Interrupt? = nil) throws(CaptureError) -> Answer? {
        try wait(until: deadline, interrupt) { state in
            state.welcome.map(Answer.welcome) ?? state.goodbye.map(Answer.goodbye)
        }
    }

    /// The next event, or the goodbye; nil as for `answer`. With a deadline in the past, it does not wait. Nil means no
    /// deadline.
    func event(until deadline: MediaTime?, _ interrupt: Interrupt? = nil) throws(CaptureError) -> CaptureEvent? {
        try wait(until: deadline, interrupt) { state in
            state.unread.isEmpty ? state.goodbye.map(CaptureEvent.goodbye) : state.unread.removeFirst()
        }
    }

    /// The next event, if nobody iterates `events`, or the goodbye; nil as for `answer`.
    func eventNobodyElseTakes(until deadline: MediaTime) throws(CaptureError) -> CaptureEvent? {
        try wait(until: deadline, nil) { state in
            guard state.listeners == 0, !state.unread.isEmpty else { return state.goodbye.map(CaptureEvent.goodbye) }
            return state.unread.removeFirst()
        }
    }

    /// The next event, or the goodbye; nil when `deadline` has passed, a descriptor is readable, or the daemon waits
    /// for a picture.
    func news(until deadline: MediaTime?, wake: InlineArray<4, CInt>) throws(CaptureError) -> CaptureEvent? {
        try wait(until: deadline, nil, wake: wake) { [pool] state -> CaptureEvent?? in
            if !state.unread.isEmpty { return state.unread.removeFirst() }
            if let goodbye = state.goodbye { return CaptureEvent.goodbye(goodbye) }
            return pool.lacksPicture ? .some(nil) : nil
        } ?? nil
    }

    /// The goodbye; nil as for `answer`. Events stay.
    func goodbye(until deadline: MediaTime, _ interrupt: Interrupt? = nil) throws(CaptureError) -> CaptureGoodbye? {
        try wait(until: deadline, interrupt) { $0.goodbye }
    }

    /// From now on, events are for iterations of `events`.
    func beginListening() { state.withLock { $0.listeners += 1 } }
    func endListening() { state.signal { $0.listeners -= 1 } }

    /// Ends the waits that have this interrupt.
    func set(_ interrupt: Interrupt) {
        interrupt.set()
        // Waits that do not poll check again.
        state.signal { _ in }
    }

    /// Reads what has come, because the pool needs it. Never waits. A thread that polls reads it anyway.
    func glance() {
        state.withLock { state in
            guard !state.isPolling else { return }
            while read(&state) {}
        }
    }

    /// When the daemon last sent something, including what waits in the socket now; zero for never.
    func lastHeard() -> MediaTime {
        glance()
        return state.withLock { $0.heard }
    }

    private enum Turn<Wanted> {
        case found(Wanted)
        case failed(CaptureError)
        case poll
        case interrupted
    }

    private func wait<Wanted>(
        until deadline: MediaTime?, _ interrupt: Interrupt?, wake: InlineArray<4, CInt> = [-1, -1, -1, -1],
        for take: (inout State) -> Wanted?
    ) throws(CaptureError) -> Wanted? {
        while true {
            let turn = state.wait(until: deadline) { state -> Turn<Wanted>? in
                if let wanted = take(&state) { return .found(wanted) }
                if case .failure(let error)? = state.end { return .failed(error) }
                if interrupt?.isSet == true { return .interrupted }
                guard !state.isPolling else { return nil }
                state.isPolling = true
                return .poll
            }
            switch turn {
            case .found(let wanted): return wanted
            case .failed(let error): throw error
            case .interrupted, nil: return nil
            case .poll:
                let hasInput = pollInput(until: deadline, interrupt, wake)
                state.signal { state in
                    state.isPolling = false
                    if hasInput { _ = read(&state) }
                }
                if !hasInput { return nil }
            }
        }
    }

    /// False if the deadline passes, the interrupt is set or one of `wake` is readable first.
    private func pollInput(
        until deadline: MediaTime?, _ interrupt: Interrupt?, _ wake: InlineArray<4, CInt>
    ) -> Bool {
        while true {
            var timeout: CInt = -1
            if let deadline { timeout = CInt(clamping: max(0, (deadline - MonotonicClock().now()).milliseconds + 1)) }
            // `poll` ignores descriptors below 0.
            var all = InlineArray<6, pollfd>(repeating: pollfd(fd: -1, events: Int16(POLLIN), revents: 0))
            all[0].fd = socket
            all[1].fd = interrupt?.raw ?? -1
            for index in wake.indices { all[2 + index].fd = wake[index] }
            var span = all.mutableSpan
            let ready = unsafe span.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, 6, timeout) }
            if ready > 0 { return all[0].revents != 0 }
            if ready == 0 { return false }
            if errno != EINTR { return true }
        }
    }

    // MARK: Reading

    /// Reads until a message is complete, without waiting. False if no more can be read now.
    private func read(_ state: inout State) -> Bool {
        guard state.end == nil else { return false }
        do throws(CaptureError) {
            while true {
                let wanted = try missing(state)
                guard wanted > 0 else {
                    try decode(&state)
                    return true
                }
                guard try fill(&state, wanted) else { return false }
            }
        } catch {
            state.end = .failure(error)
            return false
        }
    }

    /// The number of bytes that the message still needs, as far as its length is known.
    private func missing(_ state: State) throws(CaptureError) -> Int {
        if state.skip > 0 { return state.skip }
        guard state.bytes.count >= MessageHeader.byteCount else { return MessageHeader.byteCount - state.bytes.count }
        return MessageHeader.byteCount + (try header(state)).bodyBytes - state.bytes.count
    }

    private func header(_ state: State) throws(CaptureError) -> MessageHeader {
        guard !state.bytes.starts(with: "HTTP".utf8) else {
            throw CaptureError(
                .cannotConnect,
                "this is the control socket (HTTP); the capture socket is needed (by default capture.sock)")
        }
        do throws(ProtocolError) {
            return try unsafe MessageHeader.decode(state.bytes.span.bytes, limits: .default)
        } catch {
            throw Self.violation(error.message)
        }
    }

    /// Reads at most `wanted` bytes. False if there are none now.
    private func fill(_ state: inout State, _ wanted: Int) throws(CaptureError) -> Bool {
        try unsafe withUnsafeTemporaryAllocation(byteCount: min(wanted, 4096), alignment: 1) {
            buffer throws(CaptureError) in
            while true {
                let count = unsafe recv(socket, buffer.baseAddress!, buffer.count, CInt(MSG_DONTWAIT))
                if count > 0 {
                    state.heard = MonotonicClock().now()
                    if state.skip > 0 {
                        state.skip -= count
                    } else {
                        unsafe state.bytes.append(contentsOf: buffer[..<count])
                    }
                    return true
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return false }
                let why = count == 0 ? "end of file" : "\(Errno.current)"
                throw CaptureError(
                    .disconnected,
                    "the daemon closed the connection without ending the broadcast (\(why)); its log may say why")
            }
        }
    }

    // MARK: Understanding

    /// Decodes the complete message, and makes room for the next one.
    private func decode(_ state: inout State) throws(CaptureError) {
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
        switch incoming {
        case .welcome(let message): state.welcome = message
        case .event(let event):
            if state.unread.count == Self.maxUnread { state.unread.removeFirst() }
            state.unread.append(event)
        case .goodbye(let goodbye): state.end = .goodbye(goodbye)
        case .fatal(let message): throw CaptureError(message)
        case nil: break
        }
    }

    private enum Incoming {
        case welcome(WelcomeMessage)
        case event(CaptureEvent)
        case goodbye(CaptureGoodbye)
        /// Ends the connection.
        case fatal(ErrorMessage)
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
            // The daemon did not take what was sent under the curtain.
            if message.state == .curtainDown { pool.forgetLatest(lacksIt: true) }
            return .event(.state(BroadcastState(message), text: message.text))
        case .error:
            let message = try ErrorMessage.decode(body: body)
            if message.isFatal { return .fatal(message) }
            // Whatever was refused, the next picture is sent whole.
            pool.forgetLatest(lacksIt: message.code == .unknownPicture || message.code == .badSharedMemory)
            // This library called the picture unchanged, not the application.
            if message.code == .unknownPicture { return nil }
            // From now on, pictures are written to the socket.
            if message.code == .badSharedMemory { pool.offer = nil }
            return .event(.refused(CaptureRefusal(message)))
        case .counters: return .event(.counters(CaptureCounters(try CountersMessage.decode(body: body))))
        case .goodbye: return .goodbye(CaptureGoodbye(try GoodbyeMessage.decode(body: body)))
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
