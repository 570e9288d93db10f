internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
package import MediaCore

/// One broadcast: a connection to upcastd's capture socket.
///
/// Any thread may call anything; samples go out whole, one after the other, and are the caller's again when a call
/// returns. The connection is closed when the object goes away.
///
/// **Calls that wait.** A send waits while the daemon reads, which it always does: a sample that it has no room for it
/// drops and counts. So a send takes less than a millisecond as a rule, and at most `sendTimeout`; it borrows the
/// sample's memory, and is called from the thread that captures. Connecting, `start` and `finish` wait for the daemon.
/// They block a thread, or suspend a task: in an asynchronous context Swift takes the `async` variant, which waits on
/// a thread of its own and keeps none of the cooperative pool.
///
/// **Events.** What the daemon says is one queue, and each event is given to one reader: a task that iterates
/// `events`, or a thread that calls `nextEvent`. Use one of the two. What nobody asks for is kept, the newest 256.
///
/// **Times.** A presentation timestamp is a `Duration` since the zero of a clock of the client's choice: the same one
/// for video and sound, monotonic, to the nanosecond. Only differences count. A capture that has timestamps of its own
/// passes them as `.nanoseconds(...)`; one that has none takes `start.duration(to: .now)` of a `ContinuousClock`.
///
/// ```swift
/// let connection = try CaptureConnection(path: "/run/upcast/capture.sock")
/// let welcome = try connection.start(BroadcastSetup(clientName: "kiosk", convention: .exif))
/// let format = try CaptureVideoFormat(.bgra, width: 1920, height: 1080)
/// while let frame = grab() {
///     try connection.sendVideo(frame.bytes, format: format, at: frame.time, orientation: .up)
///     while let event = try connection.nextEvent() { print(event) }
/// }
/// print(try connection.finish())
/// ```
public final class CaptureConnection: Sendable {
    /// Where the daemon listens unless it was told otherwise: in `/run/upcast`, or in `$XDG_RUNTIME_DIR/upcast` if
    /// that folder does not exist and this user is not root.
    public static var defaultPath: String { "\(RuntimeFolder.current)/capture.sock" }

    private let socket: OwnedDescriptor
    let sender: MessageSender
    let pool = FramePool()
    let sharesMemory: Bool
    let receiver: MessageReceiver
    let limits = Monitor(IngestLimits.default)

    // MARK: Lifecycle

    /// Connects to the daemon's socket; says nothing yet.
    ///
    /// - Parameters:
    ///   - path: of the daemon's capture socket.
    ///   - sendTimeout: how long connecting may take, and how long a send may go without the daemon reading anything.
    ///     A message that is cut off by it leaves the connection unusable.
    ///   - sharesMemory: pictures of 64 KiB and more are copied to memory that the daemon reads, where it offers that;
    ///     room for three of them is kept. Otherwise they are written to the socket.
    /// - Throws: `cannotConnect`.
    public convenience init(
        path: String = defaultPath, sendTimeout: Duration = .seconds(10), sharesMemory: Bool = true
    ) throws(CaptureError) {
        self.init(try DaemonSocket.connect(path, sendTimeout), sharesMemory: sharesMemory)
    }

    /// A daemon that stands still for less, such as one that is swapped out, goes on with the same broadcast.
    private static let patientSendTimeout = 60

    /// Connects as the other initializers do, for a program: signals end its wait, its user is told of a daemon that
    /// takes no connection, and a send may wait for a minute.
    ///
    /// - Parameters:
    ///   - path: of the daemon's capture socket.
    ///   - sharesMemory: as for the other initializers.
    ///   - signals: the connection is watched by them from then on.
    ///   - silent: called with a sentence for the user when the daemon has taken no connection for some seconds.
    /// - Throws: `cannotConnect`.
    package convenience init(
        path: String, sharesMemory: Bool = true, signals: EndingSignals, silent: (String) -> Void
    ) throws(CaptureError) {
        let socket = try DaemonSocket.connect(path, signals, silent)
        var limit = timeval(tv_sec: Self.patientSendTimeout, tv_usec: 0)
        unsafe setsockopt(socket.raw, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        self.init(socket, sharesMemory: sharesMemory)
        signals.watch(self)
    }

    /// Connects as the other initializer does, while the task is suspended.
    ///
    /// - Parameters:
    ///   - path: of the daemon's capture socket.
    ///   - sendTimeout: how long connecting may take, and how long a send may go without the daemon reading anything.
    ///   - sharesMemory: whether large pictures are copied to memory that the daemon reads.
    /// - Throws: `cannotConnect`, `noResources`.
    public convenience init(
        path: String = defaultPath, sendTimeout: Duration = .seconds(10), sharesMemory: Bool = true
    ) async throws(CaptureError) {
        let raw = try await Self.onItsOwnThread { () throws(CaptureError) in
            try DaemonSocket.connect(path, sendTimeout).relinquish()
        }
        self.init(OwnedDescriptor(raw), sharesMemory: sharesMemory)
    }

    private init(_ socket: consuming OwnedDescriptor, sharesMemory: Bool) {
        let raw = socket.raw
        self.socket = socket
        self.sharesMemory = sharesMemory
        sender = MessageSender(socket: raw)
        receiver = MessageReceiver(socket: raw, pool: pool)
    }

    /// Starts the broadcast and waits for the daemon's answer.
    ///
    /// - Parameters:
    ///   - setup: the terms of the broadcast.
    ///   - timeout: how long the daemon may take.
    /// - Returns: what the daemon takes and what it makes of it.
    /// - Throws: `busy` while another broadcast is under way; `refused` with the daemon's sentence; `timedOut`.
    public func start(_ setup: BroadcastSetup, timeout: Duration = .seconds(10)) throws(CaptureError) -> CaptureWelcome
    {
        try start(setup, timeout, nil)
    }

    /// Starts the broadcast as the other `start` does, for a program whose user is told of a silent daemon.
    ///
    /// - Parameters:
    ///   - setup: the terms of the broadcast.
    ///   - path: of the daemon's socket.
    ///   - silent: called with a sentence for the user when the daemon has not answered for some seconds.
    package func start(
        _ setup: BroadcastSetup, at path: String, silent: (String) -> Void
    ) throws(CaptureError) -> CaptureWelcome {
        try start(setup, .seconds(10), nil) { silent(DaemonSocket.sentence(silentAt: path, .seconds(10))) }
    }

    /// Starts the broadcast as the other `start` does, while the task is suspended.
    ///
    /// - Parameters:
    ///   - setup: the terms of the broadcast.
    ///   - timeout: how long the daemon may take.
    /// - Returns: what the daemon takes and what it makes of it.
    /// - Throws: `busy`, `refused`, `timedOut`; `cancelled` when the task is cancelled, after which the connection is
    ///   of no more use.
    public func start(
        _ setup: BroadcastSetup, timeout: Duration = .seconds(10)
    ) async throws(CaptureError) -> CaptureWelcome {
        try await interruptibly { interrupt throws(CaptureError) in try self.start(setup, timeout, interrupt) }
    }

    private func start(
        _ setup: BroadcastSetup, _ timeout: Duration, _ interrupt: Interrupt?, silent: () -> Void = {}
    ) throws(CaptureError) -> CaptureWelcome {
        let message = setup.message
        try reportingEnd { () throws(CaptureError) in
            try sender.send(.started) { message.encode(sequence: $0, into: &$1) }
        }
        let begin = MonotonicClock().now()
        var answer = try receiver.answer(until: begin + min(DaemonSocket.silence, MediaTime(timeout)), interrupt)
        if answer == nil, MediaTime(timeout) > DaemonSocket.silence {
            silent()
            answer = try receiver.answer(until: begin + MediaTime(timeout), interrupt)
        }
        switch answer {
        case .welcome(let message):
            limits.withLock { $0 = message.limits }
            return CaptureWelcome(message)
        case .goodbye(let goodbye): throw Self.ended(goodbye)
        case nil: throw Self.vain(interrupt, "answer", timeout, ": it is stopped, or hangs; restart it")
        }
    }

    /// Says that nothing more will come, and waits until the daemon has sent out what it has.
    ///
    /// - Parameters:
    ///   - reason: why the broadcast ends.
    ///   - text: a sentence for the daemon's log.
    ///   - timeout: how long the daemon may take; it needs some seconds when the network is slow.
    ///   - onEvent: is given what the daemon says before its goodbye, unless a task iterates `events`.
    /// - Returns: what became of the broadcast.
    /// - Throws: `refused` or `disconnected` when the connection ends another way; `timedOut`.
    public func finish(
        _ reason: CaptureFinishReason = .sourceEnded, text: String = "", timeout: Duration = .seconds(30),
        onEvent: (CaptureEvent) -> Void = { _ in }
    ) throws(CaptureError) -> CaptureGoodbye {
        try sendFinished(reason, text)
        let deadline = MonotonicClock().now() + MediaTime(timeout)
        while let event = try receiver.eventNobodyElseTakes(until: deadline) {
            if case .goodbye(let goodbye) = event { return goodbye }
            onEvent(event)
        }
        throw Self.vain(nil, "say goodbye", timeout)
    }

    /// Says that nothing more will come, and suspends the task until the daemon has sent out what it has. What the
    /// daemon says meanwhile is left for whoever reads events.
    ///
    /// - Parameters:
    ///   - reason: why the broadcast ends.
    ///   - text: a sentence for the daemon's log.
    ///   - timeout: how long the daemon may take; it needs some seconds when the network is slow.
    /// - Returns: what became of the broadcast.
    /// - Throws: `refused` or `disconnected` when the connection ends another way; `timedOut`; `cancelled` when the
    ///   task is cancelled: the daemon ends the broadcast all the same.
    public func finish(
        _ reason: CaptureFinishReason = .sourceEnded, text: String = "", timeout: Duration = .seconds(30)
    ) async throws(CaptureError) -> CaptureGoodbye {
        try await interruptibly { interrupt throws(CaptureError) in
            try self.sendFinished(reason, text)
            let deadline = MonotonicClock().now() + MediaTime(timeout)
            guard let goodbye = try self.receiver.goodbye(until: deadline, interrupt) else {
                throw Self.vain(interrupt, "say goodbye", timeout)
            }
            return goodbye
        }
    }

    private func sendFinished(_ reason: CaptureFinishReason, _ text: String) throws(CaptureError) {
        let message = FinishedMessage(reason: reason.reason, text: text)
        do {
            try sender.send(.finished) { message.encode(sequence: $0, into: &$1) }
        } catch {
            // The daemon may have said goodbye on its own; then that is the answer, and it lies in the socket.
            guard error.code == .disconnected else { throw error }
        }
    }

    /// Ends the connection at once, without a goodbye; calls that wait elsewhere fail.
    public func abort() { shutdown(socket.raw, CInt(SHUT_RDWR)) }

    // MARK: The broadcast

    /// From here on the daemon shows and plays nothing of what is sent.
    public func pause() throws(CaptureError) {
        pool.forgetLatest()
        try sendBare(.paused)
    }

    /// Samples count again.
    public func resume() throws(CaptureError) { try sendBare(.resumed) }

    /// When the daemon has said something last, by CLOCK_MONOTONIC; zero for never. Any thread.
    package func lastHeard() -> MediaTime { receiver.lastHeard() }

    /// Whether the daemon waits for the picture that the screen shows, although it was sent: a curtain has fallen, or
    /// the daemon does not have what was called unchanged. True once; as of the events that were read.
    package func takeLackOfPicture() -> Bool { pool.takeLack() }

    /// Tells a fact about the broadcast, such as a title or the app in front.
    ///
    /// - Parameters:
    ///   - key: 1 to 64 bytes, cut beyond.
    ///   - value: cut at 1024 bytes.
    public func annotate(_ key: String, _ value: String) throws(CaptureError) {
        guard !key.isEmpty else { throw CaptureError(.invalidArgument, "an annotation's key is empty") }
        let message = AnnotatedMessage(key: key, value: value)
        try reportingEnd { () throws(CaptureError) in
            try sender.send(.annotated) { message.encode(sequence: $0, into: &$1) }
        }
    }

    /// The next event, or nil when the daemon says nothing within `timeout`; by default it only looks. After a goodbye
    /// each call returns it again. From a task, iterate `events`.
    ///
    /// - Parameter timeout: how long to block the calling thread.
    /// - Throws: `busy`, `refused` or `disconnected` when the connection has ended without a goodbye.
    public func nextEvent(timeout: Duration = .zero) throws(CaptureError) -> CaptureEvent? {
        try receiver.event(until: MonotonicClock().now() + MediaTime(timeout))
    }

    /// The next event; nil when the daemon says nothing within `timeout` (nil: without end), a descriptor is readable,
    /// or `takeLackOfPicture` would be true.
    ///
    /// - Parameter wake: descriptors; those below 0 are passed over.
    package func nextEvent(
        timeout: Duration?, wake: InlineArray<4, CInt>
    ) throws(CaptureError) -> CaptureEvent? {
        try receiver.news(until: timeout.map { MonotonicClock().now() + MediaTime($0) }, wake: wake)
    }

    // MARK: Private

    private func sendBare(_ type: MessageType) throws(CaptureError) {
        try reportingEnd { () throws(CaptureError) in
            try sender.send(type) { BareMessage.encode(type, sequence: $0, into: &$1) }
        }
    }

    /// Runs a send; where the daemon has hung up, throws the reason that it left behind instead of "broken pipe".
    func reportingEnd(_ send: () throws(CaptureError) -> Void) throws(CaptureError) {
        do {
            try send()
        } catch {
            guard error.code == .disconnected else { throw error }
            // It lies in the socket, or another thread reads it at this moment.
            if let goodbye = try receiver.goodbye(until: MonotonicClock().now() + .seconds(1)) {
                throw Self.ended(goodbye)
            }
            throw error
        }
    }

    /// Runs a call that blocks on a thread of its own. The interrupt is set when the task is cancelled.
    private func interruptibly<Value: Sendable>(
        _ call: @escaping @Sendable (Interrupt) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let interrupt: Interrupt
        do throws(Errno) { interrupt = try Interrupt() } catch { throw CaptureError(noResources: error) }
        let result = await withTaskCancellationHandler {
            await Self.result { () throws(CaptureError) in
                guard !interrupt.isSet else { throw Self.vain(interrupt, "", .zero) }
                return try call(interrupt)
            }
        } onCancel: {
            receiver.set(interrupt)
        }
        return try result.get()
    }

    private static func onItsOwnThread<Value: Sendable>(
        _ call: @escaping @Sendable () throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        try await result(call).get()
    }

    private static func result<Value: Sendable>(
        _ call: @escaping @Sendable () throws(CaptureError) -> Value
    ) async -> Result<Value, CaptureError> {
        do throws(Errno) {
            return try await BlockingCall.run("upcast-call") {
                do throws(CaptureError) { return .success(try call()) } catch { return .failure(error) }
            }
        } catch {
            return .failure(CaptureError(noResources: error))
        }
    }

    /// Why a wait has brought nothing.
    private static func vain(
        _ interrupt: Interrupt?, _ what: String, _ timeout: Duration, _ cause: String = ""
    ) -> CaptureError {
        let time = MediaTime(timeout)
        let limit = time.milliseconds % 1000 == 0 ? "\(time.milliseconds / 1000) s" : "\(time)"
        return interrupt?.isSet == true
            ? CaptureError(.cancelled, "the task was cancelled")
            : CaptureError(.timedOut, "the daemon did not \(what) within \(limit)\(cause)")
    }

    private static func ended(_ goodbye: CaptureGoodbye) -> CaptureError {
        CaptureError(.ended, "the daemon ended the broadcast" + (goodbye.text.isEmpty ? "" : ": \(goodbye.text)"))
    }
}

/// Why a client ends its broadcast.
public enum CaptureFinishReason: Sendable {
    case sourceEnded, userStopped, failed

    var reason: FinishReason {
        switch self {
        case .sourceEnded: .sourceEnded
        case .userStopped: .userStopped
        case .failed: .failed
        }
    }
}
