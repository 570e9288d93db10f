internal import ControlProtocol
internal import Endpoints
internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// One hook: its queue, and the thread that empties it. A thread that offers an event never waits for it.
final class WebhookSender: Sendable {
    /// Since the daemon started; they stay when the hook's settings change.
    struct Counters: Equatable {
        var delivered = 0
        /// Deliveries that were given up.
        var failed = 0
        /// Deliveries that were dropped before they were given up.
        var dropped = 0
        var lastError: String?
        var lastErrorAt = MediaTime.zero
    }

    private struct State {
        var counters = Counters()
        var queue = WebhookQueue()
        /// A message has left the queue and is neither delivered nor given up.
        var isDelivering = false
        /// The server has said that it wants no more.
        var isGone = false
        /// The queue is emptied without waits; then the thread ends.
        var isEnding = false
        /// The thread ends at once.
        var isCancelled = false
        /// The thread has nothing more to do.
        var isOver = false

        var dropped: Int { counters.dropped + queue.dropped }
    }

    let settings: WebhookSettings
    private let state: Monitor<State>
    private let control: PublishControl
    private let clock: any TimeSource
    private let onEvent: @Sendable (DaemonEvent) -> Void

    /// - Parameter onEvent: called on the hook's thread for each delivery that was given up.
    init(
        _ settings: WebhookSettings, clock: any TimeSource,
        onEvent: @escaping @Sendable (DaemonEvent) -> Void
    ) throws(Errno) {
        (self.settings, self.clock, self.onEvent) = (settings, clock, onEvent)
        control = try PublishControl(clock: clock)
        state = Monitor(State())
    }

    /// Continues with the counters of another sender of the same name. Call it before `run`.
    func inherit(_ counters: Counters) { state.withLock { $0.counters = counters } }

    // MARK: Any thread

    func offer(_ message: WebhookMessage) {
        guard settings.events.contains(message.type) else { return }
        state.signal { state in
            guard !state.isCancelled else { return }
            guard !state.isGone else { return state.counters.dropped += 1 }
            state.queue.append(message)
        }
    }

    var status: WebhookStatus {
        let now = clock.now()
        return state.withLock { state in
            var status = WebhookStatus()
            status.name = settings.name
            status.url = settings.url.description
            status.delivered = state.counters.delivered
            status.failed = state.counters.failed
            status.dropped = state.dropped
            status.queued = state.queue.count + (state.isDelivering ? 1 : 0)
            status.lastError = state.counters.lastError
            status.lastErrorAgeMilliseconds =
                state.counters.lastError.map { _ in Int((now - state.counters.lastErrorAt).milliseconds) }
            return status
        }
    }

    /// Makes the thread try each waiting delivery once more, without delays, and end.
    func end() { state.signal { $0.isEnding = true } }

    /// Waits for the end of `run`. Returns false at `deadline`.
    func waitForEnd(until deadline: MediaTime) -> Bool {
        state.wait(until: deadline, by: clock) { $0.isOver ? true : nil } ?? false
    }

    /// Ends the thread at once. Waiting deliveries are dropped.
    ///
    /// - Returns: the counters, for another sender with the same name.
    @discardableResult
    func cancel() -> Counters {
        let counters = state.signal { state in
            state.isCancelled = true
            state.queue.dropAll()
            var counters = state.counters
            counters.dropped = state.dropped + (state.isDelivering ? 1 : 0)
            return counters
        }
        control.cancel()
        return counters
    }

    // MARK: The hook's thread

    /// Returns after `end` or `cancel`.
    func run() {
        var random = SystemRandomNumberGenerator()
        while let (message, dropped) = next() {
            deliver(message, message.body(dropped: dropped), using: &random)
        }
        state.signal { $0.isOver = true }
    }

    private func next() -> (WebhookMessage, Int)? {
        let next: (WebhookMessage, Int)?? = state.wait { state in
            if state.isCancelled { return .some(nil) }
            if let message = state.queue.next() {
                state.isDelivering = true
                return (message, state.dropped)
            }
            return state.isEnding ? .some(nil) : nil
        }
        return next ?? nil
    }

    private func deliver(
        _ message: WebhookMessage, _ body: [UInt8], using random: inout SystemRandomNumberGenerator
    ) {
        let attempt = WebhookAttempt(settings: settings, control: control, clock: clock)
        var attempts = 0
        while true {
            attempts += 1
            let isLast = state.withLock { $0.isEnding }
            switch attempt.deliver(id: message.id, body: body) {
            case .delivered:
                return state.withLock { state in
                    state.isDelivering = false
                    state.counters.delivered += 1
                }
            case .cancelled: return
            case .failed(let why, let asked):
                note(why)
                let delay = settings.schedule.delay(after: attempts, asked: asked, using: &random)
                // At the daemon's end, each delivery has one more attempt.
                if let delay, wait(delay) || !isLast && endsInOrder { continue }
                return giveUp(message, after: attempts, why)
            case .refused(let why): return giveUp(message, after: attempts, why)
            case .gone(let why): return giveUp(message, after: attempts, why, isGone: true)
            }
        }
    }

    /// Waits before the next attempt. Returns false if `end` or `cancel` was called.
    private func wait(_ delay: MediaTime) -> Bool {
        let isOver = state.wait(until: clock.now() + delay, by: clock) { $0.isCancelled || $0.isEnding ? true : nil }
        return isOver == nil
    }

    private var endsInOrder: Bool { state.withLock { $0.isEnding && !$0.isCancelled } }

    private func note(_ error: String) {
        let now = clock.now()
        state.withLock { ($0.counters.lastError, $0.counters.lastErrorAt) = (error, now) }
    }

    private func giveUp(_ message: WebhookMessage, after attempts: Int, _ why: String, isGone: Bool = false) {
        note(why)
        let isCancelled = state.withLock { state in
            // `cancel` has counted it.
            guard !state.isCancelled else { return true }
            state.isDelivering = false
            state.counters.failed += 1
            if isGone {
                state.isGone = true
                state.queue.dropAll()
            }
            return false
        }
        guard !isCancelled else { return }
        let now = isGone ? "the daemon sends nothing there until a reload changes the hook" : "the delivery is given up"
        onEvent(.webhookFailed(webhook: settings.name, of: message.type, attempts: attempts, why: why, now: now))
    }
}
