internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// The body of the ingest thread.
final class IngestLoop {
    private enum Stage {
        case idle
        /// A client is connected, and its messages are read.
        case reading(IngestSession)
        /// The broadcast drains. Further input of the client is discarded.
        case draining(IngestSession)
        /// The goodbye is sent. The server waits for the client to close.
        case lingering(IngestSession, until: MediaTime)
    }

    private let server: IngestServer
    private let host: any IngestHost
    private let log: @Sendable (String) -> Void
    private let clock: any TimeSource
    private let settings: IngestServer.Settings
    /// A change of stage retries accept at once, because the previous client's exit may have freed a descriptor.
    private var stage = Stage.idle { didSet { acceptRetryAt = nil } }
    private var isStopping = false
    /// After a failed accept: when to poll the listener again.
    private var acceptRetryAt: MediaTime?
    private var hasLoggedAccept = false
    private var standstill: Standstill
    /// The end of the last wait. Deadlines are judged at that time: a daemon that stands still later does not know yet.
    private var wokenAt: MediaTime
    /// The longest wait while a client can be late, so that a standstill is noticed to this exactness.
    private static let longestWait = MediaTime.seconds(1)
    /// A turn takes a few hundredths of a second (`IngestTurn`). Whatever a client makes it take is the client's time.
    private static let longestTurn = MediaTime.seconds(5)

    init(_ server: IngestServer, _ host: any IngestHost, _ log: @escaping @Sendable (String) -> Void) {
        self.server = server
        self.host = host
        self.log = log
        (clock, settings) = server.timing
        wokenAt = clock.now()
        standstill = Standstill(now: wokenAt, longestTurn: Self.longestTurn)
    }

    func run() {
        defer { server.work.end() }
        while true {
            if isStopping {
                if case .idle = stage { return }
            }
            let (hasMail, hasClient) = waitForWork()
            if hasMail { takeMail() }
            serveClient()
            acceptClients(isThereOne: hasClient)
            watchDeadlines()
        }
    }

    private var session: IngestSession? {
        switch stage {
        case .idle: nil
        case .reading(let session), .draining(let session), .lingering(let session, _): session
        }
    }

    // MARK: Waiting

    /// Waits in `poll`. Returns which descriptors are ready, to avoid two useless system calls per message.
    private func waitForWork() -> (hasMail: Bool, hasClient: Bool) {
        let (listener, wakeUp) = server.descriptors
        var descriptors = (
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? listener : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: polledSocket, events: sessionEvents, revents: 0)
        )
        let (limit, began) = (waitLimit, clock.now())
        server.work.end()
        defer { server.work.begin() }
        _ = unsafe withUnsafeMutableBytes(of: &descriptors) { buffer in
            unsafe poll(
                buffer.baseAddress!.assumingMemoryBound(to: pollfd.self), 3, limit.map(\.pollTimeout) ?? -1)
        }
        wokenAt = clock.now()
        forgive(standstill.wake(began: began, now: wokenAt, limit: limit))
        return (descriptors.0.revents != 0, descriptors.1.revents != 0)
    }

    /// While a broadcast drains, the next client waits in the backlog.
    private var accepts: Bool {
        switch stage {
        case .draining, .lingering: false
        case .idle, .reading: !isStopping && acceptRetryAt.map { clock.now() >= $0 } ?? true
        }
    }

    /// -1 after the peer has closed, because a closed socket stays readable while its broadcast drains.
    private var polledSocket: CInt {
        guard let session, !session.inputEnded else { return -1 }
        return session.socket.raw
    }

    private var sessionEvents: Int16 {
        guard let session else { return 0 }
        return Int16(POLLIN) | (session.outbox.isEmpty ? 0 : Int16(POLLOUT))
    }

    private var deadline: MediaTime? {
        switch stage {
        case .idle, .draining: nil
        case .reading(let session): until(patience(with: session), session)
        case .lingering(_, let until): until
        }
    }

    private var sinksDeadline: MediaTime? {
        guard case .reading(let session) = stage else { return nil }
        return session.sink?.attend(at: clock.now())
    }

    /// What the server waits for.
    private enum Patience { case start, restOfMessage, nextMessage }

    private func patience(with session: IngestSession) -> Patience {
        !session.isLive ? .start : session.isInsideMessage ? .restOfMessage : .nextMessage
    }

    /// The deadline, or nil for none.
    private func until(_ patience: Patience, _ session: IngestSession) -> MediaTime? {
        switch patience {
        case .start: session.acceptedAt + settings.startTimeout
        case .restOfMessage:
            min(session.lastByteAt + settings.messageTimeout, session.messageDeadline(settings.messageTimeout))
        case .nextMessage: settings.idleTimeout > .zero ? session.lastByteAt + settings.idleTimeout : nil
        }
    }

    /// The error sentence for a client that missed the deadline.
    private func sentence(_ patience: Patience) -> String {
        switch patience {
        case .start: "no started message within \(settings.startTimeout) after connecting"
        case .restOfMessage:
            "a message is incomplete: the limit is \(settings.messageTimeout) for its next byte, and "
                + "\(settings.messageTimeout) plus 1 s for each MiB of payload for the whole message"
        case .nextMessage: "no message for \(settings.idleTimeout)"
        }
    }

    /// Nil for none.
    private var waitLimit: MediaTime? {
        if case .reading(let session) = stage, session.hasUnfinishedWork { return .zero }
        let now = clock.now()
        let clients = deadline.map { min($0, now + Self.longestWait) }
        let ours = acceptRetryAt.map { min($0, clients ?? $0) } ?? clients
        guard let next = sinksDeadline.map({ min($0, ours ?? $0) }) ?? ours else { return nil }
        return max(.zero, next - now)
    }

    /// Gives the client the time back in which the daemon did not run.
    private func forgive(_ lost: MediaTime) {
        guard lost > .zero else { return }
        switch stage {
        case .reading(let session): session.forgive(lost)
        case .lingering(let session, let until): stage = .lingering(session, until: until + lost)
        case .idle, .draining: break
        }
    }

    // MARK: Working

    private func takeMail() {
        let mail = server.collectMail()
        if mail.stop, !isStopping {
            isStopping = true
            switch stage {
            case .reading(let session): end(session, session.abandonSample(.daemonStopping))
            case .lingering: stage = .idle
            case .idle, .draining: break
            }
        }
        if let failure = mail.failure, case .reading(let session) = stage {
            session.sendError(ProtocolError(.broadcastFailed, fatal: true, failure))
            end(session, session.abandonSample(.failed(failure)))
        }
        if mail.isEnded, case .reading(let session) = stage { end(session, session.abandonSample(.endedByOperator)) }
        if let session {
            for state in mail.states { session.enqueue { state.encode(sequence: $0, into: &$1) } }
            if let counters = mail.counters, takesCounters(session), session.keepsReading {
                session.enqueue { counters.encode(sequence: $0, into: &$1) }
            }
        }
        if mail.hasCurtainNews, case .reading(let session) = stage, session.isLive {
            session.tellCurtain()
        }
        if let goodbye = mail.goodbye, case .draining(let session) = stage {
            session.enqueue(isLast: true) { goodbye.encode(sequence: $0, into: &$1) }
            linger(session)
        }
    }

    /// While its broadcast drains, they tell a client that the daemon runs.
    private func takesCounters(_ session: IngestSession) -> Bool {
        switch stage {
        case .reading: session.isLive
        case .draining: true
        case .idle, .lingering: false
        }
    }

    private func serveClient() {
        switch stage {
        case .idle: break
        case .reading(let session):
            if case .over(let end) = session.readable() { self.end(session, end) }
            _ = session.flush()
        case .draining(let session):
            _ = session.flush()
            _ = session.discardInput()
        case .lingering(let session, _):
            if !session.flush() || !session.discardInput() { stage = .idle } else { session.endSendingWhenEmpty() }
        }
    }

    private func acceptClients(isThereOne: Bool) {
        guard accepts else { return }
        acceptRetryAt = nil
        guard isThereOne else { return }
        do throws(Errno) {
            // Every connection must be closed later, and a refused one at once.
            while server.closer.hasRoom, let socket = try server.accept() {
                hasLoggedAccept = false
                let client = IngestSession(
                    socket: socket, host: host, limits: settings.limits, clock: clock, closer: server.closer)
                if case .idle = stage {
                    stage = .reading(client)
                } else {
                    client.sendError(
                        ProtocolError(
                            .busy, fatal: true,
                            "another client is broadcasting, and the daemon serves one broadcast; try again after it "
                                + "has finished"))
                    _ = client.flush()
                }
            }
            if !server.closer.hasRoom {
                acceptLater("close(2) blocks for \(DescriptorCloser.capacity) descriptors from clients")
            }
        } catch {
            acceptLater("\(error)")
        }
    }

    private func acceptLater(_ why: String) {
        acceptRetryAt = clock.now() + settings.acceptRetry
        guard !hasLoggedAccept else { return }
        hasLoggedAccept = true
        log(
            "cannot accept a capture client: \(why); the daemon retries every \(settings.acceptRetry); the connected "
                + "client is not affected")
    }

    private func watchDeadlines() {
        guard let deadline, wokenAt >= deadline else { return }
        switch stage {
        case .reading(let session):
            session.sendError(ProtocolError(.timedOut, fatal: true, sentence(patience(with: session))))
            end(session, session.abandonSample(.protocolError))
        case .lingering: stage = .idle
        case .idle, .draining: break
        }
    }

    /// Ends the client's side. If the broadcast has started, the host drains it; otherwise the connection lingers.
    private func end(_ session: IngestSession, _ reason: BroadcastEnd) {
        _ = session.flush()
        if session.isLive {
            session.markEnded()
            stage = .draining(session)
            host.ended(reason)
        } else {
            linger(session)
        }
    }

    private func linger(_ session: IngestSession) {
        guard session.flush() else {
            stage = .idle
            return
        }
        session.endSendingWhenEmpty()
        stage = .lingering(session, until: clock.now() + settings.lingerTimeout)
    }
}
