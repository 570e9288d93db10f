internal import ControlClient
internal import ControlProtocol
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// The thread of a `CaptureStateMonitor`: owns the connection, feeds `CaptureWatch`, and notifies listeners.
///
/// Any thread may call what is not private. The connection belongs to `run`.
final class CaptureStateReader: Sendable {
    private struct Shared {
        var watch: CaptureWatch
        /// The state that listeners were told last.
        var told = CaptureState.unknown
        /// `onChange` has taken this state without an error.
        var isTaken = true
        var isStopped = false
        /// What the daemon has said on the open connection.
        var isPersisted: Bool?
        var listeners: [Int: AsyncStream<CaptureState>.Continuation] = [:]
        var count = 0
    }

    /// The most states that a listener may be behind. Beyond this, the oldest are left out.
    private static let listenerStates = 16
    /// The time to connect. A daemon accepts at once or not at all, and one that hangs must not hold this thread.
    private static let connectTime = MediaTime.milliseconds(100)
    /// The time for the daemon to take the app's answer: less than it may be silent.
    private static let answerTime = MediaTime.seconds(2)

    private let client: ControlClient
    /// Sends the app's answers to the same daemon.
    private let commands: ControlClient
    /// The app that is consulted; nil for none.
    private let app: String?
    private let clock: any TimeSource
    private let onChange: @Sendable (CaptureState) throws -> Void
    private let wake: EventDescriptor
    private let shared: Monitor<Shared>

    init(
        app: String?, socket: String, limits: CaptureWatch.Limits, clock: any TimeSource,
        onChange: @escaping @Sendable (CaptureState) throws -> Void
    ) throws(Errno) {
        self.app = app
        client = ControlClient(address: .unix(socket), timeout: Self.connectTime)
        commands = ControlClient(address: .unix(socket), timeout: Self.answerTime)
        self.clock = clock
        self.onChange = onChange
        wake = try EventDescriptor()
        shared = Monitor(Shared(watch: CaptureWatch(limits, at: clock.now())))
    }

    /// The state that is known now, even while a callback holds up the thread.
    var state: CaptureState {
        shared.withLock { $0.isStopped ? .unknown : $0.watch.state(at: clock.now()) }
    }

    var isPersisted: Bool? { shared.withLock { $0.isStopped ? nil : $0.isPersisted } }

    /// Ends `run` soon. The state is unknown from now on.
    func stop() {
        shared.withLock { $0.isStopped = true }
        wake.signal()
    }

    /// The state now, and each later change, until the reader is stopped.
    func states() -> AsyncStream<CaptureState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.listenerStates)) { continuation in
            // Under the lock: otherwise, a change could come before the state that it changes.
            let number = shared.withLock { shared -> Int? in
                continuation.yield(shared.told)
                guard !shared.isStopped else { return nil }
                shared.count += 1
                shared.listeners[shared.count] = continuation
                return shared.count
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.shared.withLock { $0.listeners[number] = nil }
            }
        }
    }

    // MARK: The thread

    func run() {
        WorkerThread.takeNoSignals()
        var connection: EventConnection?
        var comments = 0
        var peer: PeerProcess?
        var watch = shared.withLock { $0.watch }
        // The earliest time at which the readable bytes may have come.
        var arrival = clock.now()
        while true {
            let begin = clock.now()
            var isOver = false
            switch watch.step(at: clock.now()) {
            case .drop: isOver = true
            case .connect:
                // The state that was told may be out of date by now.
                guard tell(watch) else { return finish() }
                let event: CaptureWatch.Event
                (connection, event) = connect()
                comments = 0
                if let connection {
                    peer = PeerProcess(socket: connection.raw)
                } else if event == .notConnected {
                    peer = nil
                }
                _ = watch.handle(event, at: clock.now())
            case .wait:
                if let connection { isOver = read(connection, from: arrival, &comments, &watch) == .drop }
                if let process = peer?.raw, Self.isReadable(process) {
                    if let connection, !isOver {
                        // A process that ends closes its connections first, so another process speaks here. (If there
                        // is something to read, that comes first.)
                        if !Self.isReadable(connection.raw) { peer = nil }
                    } else {
                        peer = nil
                        _ = watch.handle(.processEnded, at: clock.now())
                    }
                }
            }
            // Before the connection is closed: nobody must see its end together with the state from before.
            guard tell(watch) else { return finish() }
            if isOver {
                connection = nil
                shared.withLock { $0.isPersisted = nil }
            }
            // Bytes that are there already came after the last look, perhaps long before the app was done with that.
            let isThere = connection.map { Self.isReadable($0.raw) } ?? false
            wait(until: watch.deadline, connection?.raw, peer?.raw)
            arrival = isThere ? begin : clock.now()
        }
    }

    private func connect() -> (EventConnection?, CaptureWatch.Event) {
        do throws(ControlClientError) {
            // Only an explicit release counts as the answer, because the app may do several things first.
            let query = app.map { "?app=\(ControlClient.escaped($0))&consult=release" } ?? ""
            return (try EventConnection(client, "/state/events\(query)", deadline: client.deadline), .connected)
        } catch {
            switch error {
            case .nobodyListens: return (nil, .nobodyListens)
            case .noSocket: return (nil, .noSocket)
            default: return (nil, .notConnected)
            }
        }
    }

    /// Handles what has come, without waiting. It counts as news of `arrival`, however long the app takes to handle it.
    private func read(
        _ connection: EventConnection, from arrival: MediaTime, _ comments: inout Int, _ watch: inout CaptureWatch
    ) -> CaptureWatch.Step {
        do throws(ControlClientError) {
            for event in try connection.next() {
                guard watch.step(at: clock.now()) == .wait else { return .drop }
                let told = try CaptureStateText.read(event)
                guard watch.handle(.told(told.state, number: told.number), at: arrival) == .wait else {
                    return .drop
                }
                if told.number == 1 { shared.withLock { $0.isPersisted = told.isPersisted } }
                // Each event is told, even if the next one has come already.
                guard tell(watch) else { return .drop }
                try answer(told)
            }
            guard connection.comments != comments else { return .wait }
            comments = connection.comments
            guard watch.step(at: clock.now()) == .wait else { return .drop }
            return watch.handle(.heartbeat, at: arrival)
        } catch {
            if case .unreachable = error { return watch.handle(.hungUp, at: clock.now()) }
            return watch.handle(.notUnderstood, at: clock.now())
        }
    }

    /// Lets the daemon show the capture, if the daemon waits for this app and the app has taken the state without an
    /// error. If the daemon does not take the answer, the connection is given up. That also ends the daemon's waiting.
    private func answer(_ told: CaptureStateText.Event) throws(ControlClientError) {
        guard let app, told.state.isCaptured, told.waitingFor.contains("app:\(app)"),
            shared.withLock({ $0.isTaken && !$0.isStopped })
        else { return }
        var request = ReleaseRequest()
        (request.app, request.capture) = (app, told.capture)
        _ = try commands.ask("POST", "/state/release", body: request.json)
    }

    /// Tells listeners of a change. False if the reader was stopped.
    private func tell(_ watch: CaptureWatch) -> Bool {
        let (isStopped, change) = shared.withLock { shared -> (Bool, CaptureState?) in
            shared.watch = watch
            guard !shared.isStopped else { return (true, nil) }
            let state = watch.state(at: clock.now())
            guard state != shared.told else { return (false, nil) }
            shared.told = state
            shared.isTaken = false
            for listener in shared.listeners.values { listener.yield(state) }
            return (false, state)
        }
        if let change {
            // An app that fails to hide something must not be shown.
            let isTaken = (try? onChange(change)) != nil
            shared.withLock { $0.isTaken = isTaken }
        }
        return !isStopped
    }

    private func finish() {
        let listeners = shared.withLock { shared in
            let hasChanged = shared.told != .unknown
            shared.told = .unknown
            if hasChanged { for listener in shared.listeners.values { listener.yield(.unknown) } }
            defer { shared.listeners = [:] }
            return Array(shared.listeners.values)
        }
        // Not under the lock, which `onTermination` acquires.
        for listener in listeners { listener.finish() }
    }

    private func wait(until deadline: MediaTime, _ connection: CInt?, _ process: CInt?) {
        var all = [wake.raw, connection ?? -1, process ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&all, nfds_t(all.count), (deadline - clock.now()).pollTimeout)
        wake.clear()
    }

    private static func isReadable(_ descriptor: CInt) -> Bool {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&one, 1, 0) > 0
    }
}
