package import ControlProtocol
package import LinuxSystem
package import MediaCore

/// All hooks: takes the daemon's events, and has a thread for each hook that delivers them.
///
/// Any thread may offer an event, and waits for nothing but short locks.
package final class WebhookCenter: Sendable {
    package static let mostHooks = 4

    /// What one hook holds at most: its queue, a request, an answer, and what the kernel keeps of the connection.
    package static let memoryBytes =
        WebhookQueue.mostBytes + 2 * WebhookMessage.maximumBytes + 2 * WebhookAnswer.mostHeadBytes + 96 * 1024

    private struct Running {
        let sender: WebhookSender
        let thread: WorkerThread
    }

    private struct State {
        /// Hooks whose threads are yet to be started.
        var prepared: [WebhookSender] = []
        var running: [Running] = []
        var onEvent: (@Sendable (DaemonEvent) -> Void)?
        /// A name for the next thread.
        var threads = 0

        var senders: [WebhookSender] { prepared + running.map(\.sender) }
    }

    private let instance: String
    private let clock: any TimeSource
    private let state = Monitor(State())

    /// How long a removed hook's thread may take to end. A longer one waits for a disk, and is left alone.
    private static let removalPatience = MediaTime.milliseconds(300)

    /// - Parameter instance: the name of this machine, for the receiver.
    package init(instance: String, clock: any TimeSource) {
        (self.instance, self.clock) = (instance, clock)
    }

    /// Takes events for these hooks. `start` begins to deliver them.
    package func prepare(_ hooks: [WebhookSettings]) throws(Errno) {
        for hook in hooks {
            let sender = try sender(hook, WebhookSender.Counters())
            state.withLock { $0.prepared.append(sender) }
        }
    }

    /// Starts the threads.
    ///
    /// - Parameter onEvent: is told of deliveries that were given up. Hooks never get these events.
    package func start(onEvent: @escaping @Sendable (DaemonEvent) -> Void) throws(Errno) {
        let prepared = state.withLock { state in
            state.onEvent = onEvent
            defer { state.prepared = [] }
            return state.prepared
        }
        for sender in prepared { try run(sender) }
    }

    /// Puts other hooks into force: those with the same settings go on, others end with what waits for them. Main
    /// thread.
    ///
    /// - Parameter isSame: whether the hook of that name keeps its settings.
    package func replace(with hooks: [WebhookSettings], keeping isSame: (String) -> Bool) throws(Errno) {
        let names = hooks.map(\.name)
        let ended = state.withLock { state in
            let ended = state.running.filter { running in
                let name = running.sender.settings.name
                return !names.contains(name) || !isSame(name)
            }
            state.running.removeAll { running in ended.contains { $0.sender === running.sender } }
            return ended
        }
        var counters: [String: WebhookSender.Counters] = [:]
        for running in ended { counters[running.sender.settings.name] = running.sender.cancel() }
        let deadline = MonotonicClock().now() + Self.removalPatience
        for running in ended { _ = running.thread.join(until: deadline) }
        let present = state.withLock { $0.running.map(\.sender.settings.name) }
        for hook in hooks where !present.contains(hook.name) {
            try run(sender(hook, counters[hook.name] ?? WebhookSender.Counters()))
        }
    }

    private func sender(
        _ hook: WebhookSettings, _ counters: WebhookSender.Counters
    ) throws(Errno) -> WebhookSender {
        try WebhookSender(hook, counters: counters, clock: clock) { [weak self] event in
            self?.state.withLock { $0.onEvent }?(event)
        }
    }

    private func run(_ sender: WebhookSender) throws(Errno) {
        let number = state.withLock { state in
            defer { state.threads = (state.threads + 1) % 100 }
            return state.threads
        }
        let thread = try WorkerThread(name: "up-hook-\(number)") { sender.run() }
        state.withLock { $0.running.append(Running(sender: sender, thread: thread)) }
    }

    /// Takes an event. `/events` has the same.
    package func offer(
        number: UInt64, time: String, level: String, name: DaemonEvent.Name, message: String,
        fields: [JSONValue.Member]
    ) {
        // What a hook makes happen goes to no hook.
        let ofHooks = JSONValue.Member("of", .string(DaemonEvent.Name.webhookFailed.rawValue))
        guard name != .webhookFailed, name != .repetitionsLeftOut || !fields.contains(ofHooks) else { return }
        let senders = state.withLock { $0.senders }.filter { $0.settings.events.contains(name.rawValue) }
        guard !senders.isEmpty else { return }
        let message = WebhookMessage(
            number: number, time: time, level: level, name: name, message: message, fields: fields, instance: instance)
        for sender in senders { sender.offer(message) }
    }

    package var status: [WebhookStatus] { state.withLock { $0.senders }.map(\.status) }

    /// Delivers what waits, until `deadline` at most, and ends all threads.
    package func end(until deadline: MediaTime) {
        let running = state.withLock { state in
            defer { (state.prepared, state.running) = ([], []) }
            return state.running
        }
        for hook in running { hook.sender.end() }
        // All at once: a hook that hangs takes no time from the others.
        for hook in running where !hook.sender.waitForEnd(until: deadline) { hook.sender.cancel() }
        for hook in running { _ = hook.thread.join(until: MonotonicClock().now() + Self.removalPatience) }
    }
}
