package import IngestProtocol
package import LinuxSystem
package import MediaCore

/// The daemon's capture socket: one client at a time, read by one thread named `up-ingest`.
///
/// While a broadcast is live, a second client receives the error `busy` and is disconnected. While a broadcast drains,
/// the next client waits in the socket's backlog. The thread waits only in `poll`, for the listener, the client and a
/// wake-up descriptor. It never waits for an encoder or the network.
package final class IngestServer: Sendable {
    package struct Settings: Sendable {
        package var limits: IngestLimits
        /// The limit from accept to `started`.
        package var startTimeout: MediaTime
        /// The limit for the next byte of a message, and for the whole message plus one second for each MiB of payload.
        /// A client that stops inside a message would block all others.
        package var messageTimeout: MediaTime
        /// The limit for the next message of a live client. Zero disables it, because a paused client sends nothing.
        package var idleTimeout: MediaTime
        /// The limit for the client to close the connection after the goodbye.
        package var lingerTimeout: MediaTime
        /// The delay after a failed accept, for example because no descriptors are left.
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
    /// Closes descriptors from clients, and their connections.
    let closer: DescriptorCloser
    /// Marks the work of the ingest thread between two waits.
    package let work = WorkMark("the ingest thread")

    package typealias Accept = @Sendable (borrowing OwnedDescriptor) throws(Errno) -> OwnedDescriptor?

    /// - Parameters:
    ///   - listener: a listening, non-blocking Unix stream socket. The server takes ownership.
    ///   - closer: closes descriptors from clients, and their connections. Tests inject one that hangs.
    ///   - accept: accepts the next client. Tests inject failures.
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

    /// Ends a live broadcast (`BroadcastEnd.daemonStopping`) and then the thread. Returns at once. Any thread.
    package func stop() { post { $0.isStopping = true } }

    /// Waits for the end of the thread after `stop`.
    package func join() {
        let thread = mail.withLock { mail in
            defer { mail.thread = nil }
            return mail.thread
        }
        thread?.join()
    }

    /// Sends a state to the client. Any thread. At most 16 states wait; older ones are dropped.
    package func notify(_ state: StateMessage) {
        post {
            if $0.states.count == 16 { $0.states.removeFirst() }
            $0.states.append(state)
        }
    }

    /// Sends the counters to the client if it keeps reading. Any thread.
    package func notify(_ counters: CountersMessage) { post { $0.counters = counters } }

    /// Announces a change of the sink's `attend` or the host's `curtainState`. Any thread. The ingest thread sends the
    /// current state, so that fast changes do not flood the client.
    package func curtainChanged() { post { $0.hasCurtainNews = true } }

    /// Ends a broadcast that failed. Any thread. The client receives the cause, and the host receives `ended`.
    package func fail(_ sentence: String) { post { $0.failure = $0.failure ?? sentence } }

    /// Ends the running broadcast, if any, by an operator's command. Any thread. The host receives `ended`.
    package func endByOperator() { post { $0.isEnded = true } }

    /// Reports that the broadcast is closed, once after each `ended`. Any thread. The client receives the goodbye, and
    /// the next client is accepted.
    package func broadcastClosed(_ goodbye: GoodbyeMessage) { post { $0.goodbye = goodbye } }

    private func post(_ change: (inout Mail) -> Void) {
        mail.withLock(change)
        wakeUp.signal()
    }

    // MARK: For the loop

    var descriptors: (listener: CInt, wakeUp: CInt) { (listener.raw, wakeUp.raw) }
    func accept() throws(Errno) -> OwnedDescriptor? { try acceptNext(listener) }

    typealias Delivery = (
        states: [StateMessage], counters: CountersMessage?, hasCurtainNews: Bool, failure: String?, isEnded: Bool,
        goodbye: GoodbyeMessage?, stop: Bool
    )

    func collectMail() -> Delivery {
        wakeUp.clear()
        return mail.withLock { mail in
            defer {
                // A new array: removing all elements would copy it while the returned array is alive.
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

    var timing: (clock: any TimeSource, settings: Settings) { (clock, settings) }
}
