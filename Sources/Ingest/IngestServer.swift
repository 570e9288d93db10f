internal import Glibc
package import IngestProtocol
package import LinuxSystem
package import MediaCore

/// The daemon's capture socket: one client at a time, read by one thread named `up-ingest`.
///
/// A second client is told `busy` and closed while a broadcast is live; one that connects while the last broadcast is
/// still draining waits in the socket's backlog. The thread waits in `poll` for the listener, the client and a wake-up
/// descriptor, and for nothing else: it never waits for an encoder or for the network.
package final class IngestServer: Sendable {
    package struct Settings: Sendable {
        package var limits: IngestLimits
        /// From accept to `started`.
        package var startTimeout: MediaTime
        /// For the next byte of a message that has begun, and for all of it (a second longer for each MiB of payload):
        /// a client that stops inside one holds the daemon.
        package var messageTimeout: MediaTime
        /// For the next message of a live client; zero waits for ever, because a paused client has nothing to say.
        package var idleTimeout: MediaTime
        /// How long a client may take to close after its goodbye.
        package var lingerTimeout: MediaTime
        /// Until the next try where a client could not be accepted (no descriptors are left, for example).
        package var acceptRetry: MediaTime

        package init(
            limits: IngestLimits = .default, startTimeout: MediaTime = .seconds(5),
            messageTimeout: MediaTime = .seconds(10), idleTimeout: MediaTime = .zero,
            lingerTimeout: MediaTime = .seconds(1), acceptRetry: MediaTime = .seconds(1)
        ) {
            self.limits = limits
            self.startTimeout = startTimeout
            self.messageTimeout = messageTimeout
            self.idleTimeout = idleTimeout
            self.lingerTimeout = lingerTimeout
            self.acceptRetry = acceptRetry
        }
    }

    private struct Mail {
        var states: [StateMessage] = []
        var counters: CountersMessage?
        var hasCurtainNews = false
        var failure: String?
        var isEnded = false
        var goodbye: GoodbyeMessage?
        var isStopping = false
        var thread: WorkerThread?
    }

    private let listener: OwnedDescriptor
    private let wakeUp: EventDescriptor
    private let settings: Settings
    private let clock: any TimeSource
    private let mail = Monitor(Mail())
    private let acceptNext: Accept
    /// Closes what clients send, and their connections.
    fileprivate let closer: DescriptorCloser
    /// What the ingest thread does between two waits.
    package let work = WorkMark("the ingest thread")

    package typealias Accept = @Sendable (borrowing OwnedDescriptor) throws(Errno) -> OwnedDescriptor?

    /// - Parameters:
    ///   - listener: a listening, non-blocking Unix stream socket, ours from now on.
    ///   - closer: closes what clients send, and their connections; tests have it hang.
    ///   - accept: takes the next client from it; tests have it fail.
    package init(
        listener: consuming OwnedDescriptor, settings: Settings, clock: any TimeSource,
        closer: DescriptorCloser = DescriptorCloser(),
        accept: @escaping Accept = { listener throws(Errno) in try UnixSocket.accept(listener) }
    ) throws(Errno) {
        self.listener = listener
        acceptNext = accept
        self.closer = closer
        self.settings = settings
        self.clock = clock
        wakeUp = try EventDescriptor()
    }

    /// Starts the ingest thread.
    package func start(host: any IngestHost, log: @escaping @Sendable (String) -> Void) throws(Errno) {
        let thread = try WorkerThread(name: "up-ingest") { [self] in IngestLoop(self, host, log).run() }
        mail.withLock { $0.thread = thread }
    }

    /// Any thread: ends a live broadcast (`BroadcastEnd.daemonStopping`) and then the thread. Returns at once.
    package func stop() { post { $0.isStopping = true } }

    /// Waits for the thread's end after `stop`.
    package func join() {
        let thread = mail.withLock { mail in
            defer { mail.thread = nil }
            return mail.thread
        }
        thread?.join()
    }

    /// Any thread: tells the client of a change. At most 16 wait; older ones go, because only the newest state counts.
    package func notify(_ state: StateMessage) {
        post {
            if $0.states.count == 16 { $0.states.removeFirst() }
            $0.states.append(state)
        }
    }

    /// Any thread: tells the client how far it is, unless it does not read what it is told.
    package func notify(_ counters: CountersMessage) { post { $0.counters = counters } }

    /// Any thread: the sink's `attend` and the host's `curtainState` have something new to say. The client is told the
    /// state at the moment when the ingest thread looks, so fast changes cause no flood.
    package func curtainChanged() { post { $0.hasCurtainNews = true } }

    /// Any thread: the broadcast cannot go on; the client is told why, and the host gets its `ended`.
    package func fail(_ sentence: String) { post { $0.failure = $0.failure ?? sentence } }

    /// Any thread: an operator wants the running broadcast to end in order; the host gets its `ended`. Without one
    /// nothing happens.
    package func endByOperator() { post { $0.isEnded = true } }

    /// Any thread, once after each `ended`: everything is closed; the client gets its goodbye and the next one its
    /// turn.
    package func broadcastClosed(_ goodbye: GoodbyeMessage) { post { $0.goodbye = goodbye } }

    private func post(_ change: (inout Mail) -> Void) {
        mail.withLock(change)
        wakeUp.signal()
    }

    // MARK: For the loop

    fileprivate var descriptors: (listener: CInt, wakeUp: CInt) { (listener.raw, wakeUp.raw) }
    fileprivate func accept() throws(Errno) -> OwnedDescriptor? { try acceptNext(listener) }

    fileprivate typealias Delivery = (
        states: [StateMessage], counters: CountersMessage?, hasCurtainNews: Bool, failure: String?, isEnded: Bool,
        goodbye: GoodbyeMessage?, stop: Bool
    )

    fileprivate func collectMail() -> Delivery {
        wakeUp.clear()
        return mail.withLock { mail in
            defer {
                // Not emptied with its capacity kept: while the copy that is returned lives, that makes another one.
                mail.states = []
                mail.counters = nil
                mail.hasCurtainNews = false
                mail.failure = nil
                mail.isEnded = false
                mail.goodbye = nil
            }
            return (
                mail.states, mail.counters, mail.hasCurtainNews, mail.failure, mail.isEnded, mail.goodbye,
                mail.isStopping
            )
        }
    }

    fileprivate var timing: (clock: any TimeSource, settings: Settings) { (clock, settings) }
}

/// The body of the ingest thread.
private final class IngestLoop {
    private enum Stage {
        case idle
        /// Connected; reading messages.
        case reading(IngestSession)
        /// The broadcast is being drained; what the client still sends is thrown away.
        case draining(IngestSession)
        /// The goodbye is out; waits for the client to close.
        case lingering(IngestSession, until: MediaTime)
    }

    private let server: IngestServer
    private let host: any IngestHost
    private let log: @Sendable (String) -> Void
    private let clock: any TimeSource
    private let settings: IngestServer.Settings
    /// A client that has gone may have left the descriptor that the next one needs.
    private var stage = Stage.idle { didSet { acceptRetryAt = nil } }
    private var isStopping = false
    /// A client could not be accepted: the listener, which stays readable, is let alone until then.
    private var acceptRetryAt: MediaTime?
    private var hasLoggedAccept = false

    init(_ server: IngestServer, _ host: any IngestHost, _ log: @escaping @Sendable (String) -> Void) {
        self.server = server
        self.host = host
        self.log = log
        (clock, settings) = server.timing
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

    /// Avoids two useless system calls for every message.
    private func waitForWork() -> (hasMail: Bool, hasClient: Bool) {
        let (listener, wakeUp) = server.descriptors
        var descriptors = (
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? listener : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: polledSocket, events: sessionEvents, revents: 0)
        )
        server.work.end()
        defer { server.work.begin() }
        _ = unsafe withUnsafeMutableBytes(of: &descriptors) { buffer in
            unsafe poll(buffer.baseAddress!.assumingMemoryBound(to: pollfd.self), 3, timeoutMilliseconds)
        }
        return (descriptors.0.revents != 0, descriptors.1.revents != 0)
    }

    /// While a broadcast drains, the next client waits in the backlog.
    private var accepts: Bool {
        switch stage {
        case .draining, .lingering: false
        case .idle, .reading: !isStopping && acceptRetryAt.map { clock.now() >= $0 } ?? true
        }
    }

    /// A socket whose peer has closed would be readable for ever: it is left out while its broadcast drains.
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

    /// What is awaited of a client.
    private enum Patience { case start, restOfMessage, nextMessage }

    private func patience(with session: IngestSession) -> Patience {
        !session.isLive ? .start : session.isInsideMessage ? .restOfMessage : .nextMessage
    }

    /// Until when it is awaited; nil for ever.
    private func until(_ patience: Patience, _ session: IngestSession) -> MediaTime? {
        switch patience {
        case .start: session.acceptedAt + settings.startTimeout
        case .restOfMessage:
            min(session.lastByteAt + settings.messageTimeout, session.messageDeadline(settings.messageTimeout))
        case .nextMessage: settings.idleTimeout > .zero ? session.lastByteAt + settings.idleTimeout : nil
        }
    }

    /// What the client is told when it has not come.
    private func sentence(_ patience: Patience) -> String {
        switch patience {
        case .start: "no started message within \(settings.startTimeout) of connecting"
        case .restOfMessage:
            "a message is not whole: its next byte must come within \(settings.messageTimeout), and all of it within "
                + "\(settings.messageTimeout) and a second for each MiB of payload"
        case .nextMessage: "no message for \(settings.idleTimeout)"
        }
    }

    private var timeoutMilliseconds: CInt {
        if case .reading(let session) = stage, session.hasUnfinishedWork { return 0 }
        let ours = acceptRetryAt.map { min($0, deadline ?? $0) } ?? deadline
        guard let deadline = sinksDeadline.map({ min($0, ours ?? $0) }) ?? ours else { return -1 }
        return (deadline - clock.now()).pollTimeout
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
            if let counters = mail.counters, case .reading = stage, session.isLive, session.keepsReading {
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
            // Each has to be closed some time, and one that is refused now.
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
                            "another client is broadcasting; one daemon carries one broadcast, try again when it has "
                                + "finished"))
                    _ = client.flush()
                }
            }
            if !server.closer.hasRoom {
                acceptLater("\(DescriptorCloser.capacity) descriptors that clients have sent hang in close(2)")
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
            "cannot accept a capture client: \(why); it waits, and is tried again every \(settings.acceptRetry); "
                + "a client that is connected goes on")
    }

    private func watchDeadlines() {
        guard let deadline, clock.now() >= deadline else { return }
        switch stage {
        case .reading(let session):
            session.sendError(ProtocolError(.timedOut, fatal: true, sentence(patience(with: session))))
            end(session, session.abandonSample(.protocolError))
        case .lingering: stage = .idle
        case .idle, .draining: break
        }
    }

    /// The client's side is over: the host drains if it had begun, else there is nothing to wait for.
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
