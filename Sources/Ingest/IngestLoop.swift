internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// The body of the ingest thread.
final class IngestLoop {
    /// The longest wait while a client has a deadline. A standstill of the daemon is detected with this accuracy.
    private static let longestWait = MediaTime.seconds(1)
    /// A turn takes a few hundredths of a second (`IngestTurn`). A client may make it longer, up to this limit, at its
    /// own cost.
    private static let longestTurn = MediaTime.seconds(5)

    private let server: IngestServer
    private let host: any IngestHost
    private let clock: any TimeSource
    private let settings: IngestServer.Settings
    private let patience: ClientPatience
    private var acceptor: ClientAcceptor
    private var stage = IngestStage.idle
    private var isStopping = false
    private var standstill: Standstill
    /// The end of the last wait. Deadlines are judged at this time, because a standstill after it is not detected yet.
    private var wokenAt: MediaTime

    init(_ server: IngestServer, _ host: any IngestHost, _ log: @escaping @Sendable (String) -> Void) {
        self.server = server
        self.host = host
        (clock, settings) = server.timing
        patience = ClientPatience(settings: settings)
        acceptor = ClientAcceptor(server, log: log)
        wokenAt = clock.now()
        standstill = Standstill(now: wokenAt, longestTurn: Self.longestTurn)
    }

    func run() {
        defer { server.work.end() }
        while true {
            if isStopping, case .idle = stage { return }
            let (hasMail, hasClient) = waitForWork()
            if hasMail { takeMail() }
            serveClient()
            if hasClient { acceptClients() }
            watchDeadlines()
        }
    }

    // MARK: Waiting

    /// Waits in `poll`. Returns which descriptors are ready, to avoid two useless system calls per message.
    private func waitForWork() -> (hasMail: Bool, hasClient: Bool) {
        let ((listener, wakeUp), now) = (server.descriptors, clock.now())
        var descriptors = (
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            pollfd(fd: acceptsClients(at: now) ? listener : -1, events: Int16(POLLIN), revents: 0),
            stage.polled
        )
        let (limit, began) = (waitLimit(from: now), clock.now())
        server.work.end()
        defer { server.work.begin() }
        _ = unsafe withUnsafeMutableBytes(of: &descriptors) { buffer in
            unsafe poll(
                buffer.baseAddress!.assumingMemoryBound(to: pollfd.self), 3, limit.map(\.pollTimeout) ?? -1)
        }
        wokenAt = clock.now()
        let lost = standstill.wake(began: began, now: wokenAt, limit: limit)
        if lost > .zero { stage.forgive(lost) }
        return (descriptors.0.revents != 0, descriptors.1.revents != 0)
    }

    private func acceptsClients(at now: MediaTime) -> Bool {
        stage.acceptsClients && !isStopping && acceptor.retryAt(after: now) == nil
    }

    private var sinksDeadline: MediaTime? {
        guard case .reading(let session) = stage else { return nil }
        return session.sink?.attend(at: clock.now())
    }

    /// Nil for none.
    private func waitLimit(from now: MediaTime) -> MediaTime? {
        if case .reading(let session) = stage, session.hasUnfinishedWork { return .zero }
        let client = stage.deadline(patience).map { min($0, now + Self.longestWait) }
        let ours = earlier(acceptor.retryAt(after: now), sinksDeadline)
        return earlier(client, ours).map { max(.zero, $0 - now) }
    }

    private func earlier(_ one: MediaTime?, _ other: MediaTime?) -> MediaTime? {
        one.map { min($0, other ?? $0) } ?? other
    }

    // MARK: Working

    private func takeMail() {
        let mail = server.collectMail()
        if mail.stop, !isStopping {
            isStopping = true
            switch stage {
            case .reading(let session): end(session, session.abandonSample(.daemonStopping))
            case .lingering: becomeIdle()
            case .idle, .draining: break
            }
        }
        if let failure = mail.failure, case .reading(let session) = stage {
            session.sendError(ProtocolError(.broadcastFailed, fatal: true, failure))
            end(session, session.abandonSample(.failed(failure)))
        }
        if mail.isEnded, case .reading(let session) = stage { end(session, session.abandonSample(.endedByOperator)) }
        if let session = stage.session {
            for state in mail.states { session.enqueue { state.encode(sequence: $0, into: &$1) } }
            if let counters = mail.counters, stage.takesCounters, session.keepsReading {
                session.enqueue { counters.encode(sequence: $0, into: &$1) }
            }
        }
        if mail.hasCurtainNews, case .reading(let session) = stage, session.isLive { session.tellCurtain() }
        if let goodbye = mail.goodbye, case .draining(let session) = stage {
            session.enqueue(isLast: true) { goodbye.encode(sequence: $0, into: &$1) }
            linger(session)
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
            if !session.flush() || !session.discardInput() { becomeIdle() } else { session.endSendingWhenEmpty() }
        }
    }

    /// Clients that come and go all the time must not keep the broadcast waiting.
    private static let clientsPerTurn = 8

    private func acceptClients() {
        // Mail or the client may have changed the stage since the listener was polled.
        for _ in 0..<Self.clientsPerTurn {
            guard acceptsClients(at: wokenAt), let socket = acceptor.next() else { return }
            let client = IngestSession(
                socket: socket, host: host, limits: settings.limits, clock: clock, closer: server.closer)
            if case .idle = stage { stage = .reading(client) } else { client.refuse() }
        }
    }

    private func watchDeadlines() {
        guard let deadline = stage.deadline(patience), wokenAt >= deadline else { return }
        switch stage {
        case .reading(let session):
            session.sendError(ProtocolError(.timedOut, fatal: true, patience.sentence(session.awaited)))
            end(session, session.abandonSample(.protocolError))
        case .lingering: becomeIdle()
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

    private func becomeIdle() {
        stage = .idle
        // The client that is gone may have freed a descriptor.
        acceptor.retryNow()
    }

    private func linger(_ session: IngestSession) {
        guard session.flush() else { return becomeIdle() }
        session.endSendingWhenEmpty()
        stage = .lingering(session, until: clock.now() + settings.lingerTimeout)
    }
}
