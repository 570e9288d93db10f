internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
package import MediaCore

/// One broadcast: a connection to upcastd's capture socket.
///
/// Any thread may call any method. Samples are sent whole, one after the other, and belong to the caller again when a
/// call returns. The connection is closed when the object is deinitialized.
///
/// **Calls that wait.** A send waits until the daemon has read the sample. The daemon always reads: it drops and counts
/// samples that it has no room for. So a send usually takes less than a millisecond, and at most `sendTimeout`. It
/// borrows the sample's memory, and is called on the thread that captures. Connecting, `start` and `finish` wait for
/// the daemon. They block a thread, or suspend a task: in an asynchronous context, Swift chooses the `async` variant,
/// which waits on a thread of its own and blocks none of the cooperative pool.
///
/// **Events.** The daemon's events form one queue. Each event goes to one reader: a task that iterates `events`, or a
/// thread that calls `nextEvent`. Use one of the two. The newest 256 unread events are kept.
///
/// **Times.** A presentation timestamp is a `Duration` since the zero of a clock that the client chooses: monotonic, to
/// the nanosecond, and the same for video and sound. Only differences count. If the capture has timestamps of its own,
/// pass them as `.nanoseconds(...)`. Otherwise, use `start.duration(to: .now)` of a `ContinuousClock`.
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
    /// The path of the daemon's socket, unless configured otherwise: in `/run/upcast`, or in `$XDG_RUNTIME_DIR/upcast`
    /// if that folder does not exist and this user is not root.
    public static var defaultPath: String { "\(RuntimeFolder.current)/capture.sock" }

    private let socket: OwnedDescriptor
    let sender: MessageSender
    let pool = FramePool()
    let sharesMemory: Bool
    let receiver: MessageReceiver
    let limits = Monitor(IngestLimits.default)

    // MARK: Lifecycle

    /// Connects to the daemon's socket. Sends nothing yet.
    ///
    /// - Parameters:
    ///   - path: the daemon's capture socket.
    ///   - sendTimeout: how long connecting may take, and how long a send may wait without the daemon reading anything.
    ///     If this cuts a message off, the connection is unusable.
    ///   - sharesMemory: whether pictures of 64 KiB and more are copied to memory that the daemon reads, if it offers
    ///     that. Room for three of them is kept. Other pictures are written to the socket.
    /// - Throws: `cannotConnect`.
    public convenience init(
        path: String = defaultPath, sendTimeout: Duration = .seconds(10), sharesMemory: Bool = true
    ) throws(CaptureError) {
        self.init(try DaemonSocket.connect(path, sendTimeout), sharesMemory: sharesMemory)
    }

    /// In seconds. A daemon that hangs for less, such as one that is swapped out, goes on with the same broadcast.
    private static let patientSendTimeout = 60

    /// Connects like the other initializers, for a program: signals end its wait, its user is told if the daemon
    /// accepts no connection, and a send may wait for a minute.
    ///
    /// - Parameters:
    ///   - path: the daemon's capture socket.
    ///   - sharesMemory: as for the other initializers.
    ///   - signals: watch the connection from then on.
    ///   - silent: called with a sentence for the user when the daemon has accepted no connection for some seconds.
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

    /// Connects like the other initializer, while the task is suspended.
    ///
    /// - Parameters:
    ///   - path: the daemon's capture socket.
    ///   - sendTimeout: how long connecting may take, and how long a send may wait without the daemon reading anything.
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
    /// - Returns: what the daemon takes, and what it encodes.
    /// - Throws: `busy` while another broadcast is under way; `refused` with the daemon's sentence; `timedOut`.
    public func start(_ setup: BroadcastSetup, timeout: Duration = .seconds(10)) throws(CaptureError) -> CaptureWelcome
    {
        try start(setup, timeout, nil)
    }

    /// Starts the broadcast like the other `start`, for a program that tells its user about a silent daemon.
    ///
    /// - Parameters:
    ///   - setup: the terms of the broadcast.
    ///   - path: the daemon's socket.
    ///   - silent: called with a sentence for the user when the daemon has not answered for some seconds.
    package func start(
        _ setup: BroadcastSetup, at path: String, silent: (String) -> Void
    ) throws(CaptureError) -> CaptureWelcome {
        try start(setup, .seconds(10), nil) { silent(DaemonSocket.sentence(silentAt: path, .seconds(10))) }
    }

    /// Starts the broadcast like the other `start`, while the task is suspended.
    ///
    /// - Parameters:
    ///   - setup: the terms of the broadcast.
    ///   - timeout: how long the daemon may take.
    /// - Returns: what the daemon takes, and what it encodes.
    /// - Throws: `busy`, `refused`, `timedOut`; `cancelled` when the task is cancelled, after which the connection is
    ///   unusable.
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

    /// Tells the daemon that no more samples come, and waits until it has sent all that it has.
    ///
    /// - Parameters:
    ///   - reason: why the broadcast ends.
    ///   - text: a sentence for the daemon's log.
    ///   - timeout: how long the daemon may take; it needs some seconds when the network is slow.
    ///   - onEvent: called with each event before the goodbye, unless a task iterates `events`.
    /// - Returns: what became of the broadcast.
    /// - Throws: `refused` or `disconnected` when the connection ends in another way; `timedOut`.
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

    /// Tells the daemon that no more samples come, and suspends the task until it has sent all that it has. Events that
    /// come meanwhile stay for their readers.
    ///
    /// - Parameters:
    ///   - reason: why the broadcast ends.
    ///   - text: a sentence for the daemon's log.
    ///   - timeout: how long the daemon may take; it needs some seconds when the network is slow.
    /// - Returns: what became of the broadcast.
    /// - Throws: `refused` or `disconnected` when the connection ends in another way; `timedOut`; `cancelled` when the
    ///   task is cancelled, while the daemon still ends the broadcast.
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
            // The daemon may have said goodbye on its own. That goodbye is then the answer, and waits in the socket.
            guard error.code == .disconnected else { throw error }
        }
    }

    /// Ends the connection at once, without a goodbye. Calls that wait on other threads fail.
    public func abort() { shutdown(socket.raw, CInt(SHUT_RDWR)) }

    // MARK: The broadcast

    /// Pauses the broadcast: from here on, the daemon shows and plays nothing that is sent.
    public func pause() throws(CaptureError) {
        pool.forgetLatest()
        try sendBare(.paused)
    }

    /// Resumes the broadcast: the daemon shows and plays samples again.
    public func resume() throws(CaptureError) { try sendBare(.resumed) }

    /// When the daemon last sent something, by CLOCK_MONOTONIC; zero for never. Any thread.
    package func lastHeard() -> MediaTime { receiver.lastHeard() }

    /// Whether the daemon needs the current picture once more: a curtain has fallen, or the daemon does not have the
    /// picture that was called unchanged. Returns true once, as of the events that were read.
    package func takeLackOfPicture() -> Bool { pool.takeLack() }

    /// Sends a fact about the broadcast, such as a title or the app in front.
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

    /// The next event; nil if none comes within `timeout`. By default, the call does not wait. After a goodbye, each
    /// call returns it again. In a task, iterate `events` instead.
    ///
    /// - Parameter timeout: how long to block the calling thread.
    /// - Throws: `busy`, `refused` or `disconnected` when the connection has ended without a goodbye.
    public func nextEvent(timeout: Duration = .zero) throws(CaptureError) -> CaptureEvent? {
        try receiver.event(until: MonotonicClock().now() + MediaTime(timeout))
    }

    /// The next event; nil when none comes within `timeout` (nil: without end), a descriptor is readable, or
    /// `takeLackOfPicture` would be true.
    ///
    /// - Parameter wake: descriptors; those below 0 are ignored.
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

    /// Runs a send. If the daemon has closed the connection, throws the reason that the daemon sent before, instead of
    /// "broken pipe".
    func reportingEnd(_ send: () throws(CaptureError) -> Void) throws(CaptureError) {
        do {
            try send()
        } catch {
            guard error.code == .disconnected else { throw error }
            // The goodbye waits in the socket, or another thread reads it at this moment.
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

    /// The error of a wait that has ended without a result.
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
