internal import LinuxSystem

extension CaptureConnection {
    /// The daemon's events, as an asynchronous sequence. A goodbye is its last element.
    ///
    /// ```swift
    /// for try await event in connection.events {
    ///     if case .state(let state, let text) = event { print(state, text) }
    /// }
    /// ```
    ///
    /// Each event goes to one reader: of two iterations, each gets a part. An iteration keeps the connection open, and
    /// has a thread of its own. It ends after the goodbye, with the error that has ended the connection, when the task
    /// is cancelled, and when the iterator is deinitialized. A cancelled iteration ends without an error, and loses no
    /// event: the next reader gets those that it has not returned.
    public var events: Events { Events(connection: self) }

    /// The events of one connection.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = CaptureEvent
        public typealias Failure = CaptureError

        fileprivate let connection: CaptureConnection

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection) }

        /// One pass over the events; for one task.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let connection: CaptureConnection
            private var pump: EventPump?
            private var isOver = false

            fileprivate init(connection: CaptureConnection) { self.connection = connection }

            /// The next event; nil after the goodbye, and when the task is cancelled.
            ///
            /// - Throws: `busy`, `refused` or `disconnected` when the connection has ended without a goodbye;
            ///   `noResources`.
            public mutating func next() async throws(CaptureError) -> CaptureEvent? { try await next(isolation: nil) }

            /// The next event, as from `next()`.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(CaptureError) -> CaptureEvent? {
                guard !isOver else { return nil }
                let pump: EventPump
                if let begun = self.pump {
                    pump = begun
                } else {
                    pump = try EventPump(connection)
                    self.pump = pump
                }
                switch await pump.next(isolation: actor) {
                case .success(let event?):
                    if case .goodbye = event { end() }
                    return event
                case .success(nil):
                    end()
                    return nil
                case .failure(let error):
                    end()
                    throw error
                }
            }

            private mutating func end() {
                isOver = true
                pump = nil
            }
        }
    }
}

/// The thread of one iteration over events: waits for an event when one is asked for.
///
/// The thread ends when this object is deinitialized.
private final class EventPump: Sendable {
    typealias Answer = Result<CaptureEvent?, CaptureError>

    /// What the thread and the iterating task share.
    private final class Core: Sendable {
        private struct State {
            var asker: CheckedContinuation<Answer, Never>?
            var isOver = false
        }

        /// Open as long as the thread reads.
        private let connection: CaptureConnection
        private let interrupt: Interrupt
        private let state = Monitor(State())

        init(_ connection: CaptureConnection) throws(Errno) {
            self.connection = connection
            interrupt = try Interrupt()
            connection.receiver.beginListening()
        }

        deinit { connection.receiver.endListening() }

        /// Has the thread answer. If the thread has ended, answers itself.
        func ask(_ asker: CheckedContinuation<Answer, Never>) {
            let isOver = state.signal { state in
                precondition(state.asker == nil, "an iterator is for one task")
                if !state.isOver { state.asker = asker }
                return state.isOver
            }
            if isOver { asker.resume(returning: .success(nil)) }
        }

        /// Ends the thread. A task that waits for an event gets one that has come, or nil.
        func stop() {
            state.signal { $0.isOver = true }
            connection.receiver.set(interrupt)
        }

        func run() {
            WorkerThread.takeNoSignals()
            while true {
                let asker = state.wait { state -> CheckedContinuation<Answer, Never>?? in
                    defer { state.asker = nil }
                    return state.asker.map(Optional.some) ?? (state.isOver ? .some(nil) : nil)
                }
                guard case .some(.some(let asker)) = asker else { return }
                let answer: Answer
                do throws(CaptureError) {
                    answer = .success(try connection.receiver.event(until: nil, interrupt))
                } catch {
                    answer = .failure(error)
                }
                let isLast =
                    switch answer {
                    case .success(.goodbye?), .success(nil), .failure: true
                    case .success: false
                    }
                if isLast { state.withLock { $0.isOver = true } }
                asker.resume(returning: answer)
                if isLast { return }
            }
        }
    }

    private let core: Core
    private let thread: WorkerThread

    init(_ connection: CaptureConnection) throws(CaptureError) {
        do throws(Errno) {
            let core = try Core(connection)
            self.core = core
            thread = try WorkerThread(name: "upcast-events") { core.run() }
        } catch {
            throw CaptureError(noResources: error)
        }
    }

    deinit {
        core.stop()
        thread.join()
    }

    func next(isolation actor: isolated (any Actor)?) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { core.ask($0) }
        } onCancel: {
            core.stop()
        }
    }
}
