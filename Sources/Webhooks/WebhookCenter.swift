package import ControlProtocol
package import LinuxSystem
package import MediaCore

/// All hooks: takes the daemon's events, and runs one thread for each hook, which delivers them.
///
/// Any thread may offer an event, and waits only for short locks.
package final class WebhookCenter: Sendable {
    package static let mostHooks = 4

    /// The most memory of one hook: its queue, a request, an answer, and the kernel's buffers for the connection.
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

    /// How long a removed hook's thread may take to end. One that takes longer waits for a disk, and is abandoned.
    private static let removalPatience = MediaTime.milliseconds(300)

    /// - Parameter instance: the name of this machine, for the receiver.
    package init(instance: String, clock: any TimeSource) {
        (self.instance, self.clock) = (instance, clock)
    }

    /// Takes events for these hooks. `start` begins to deliver them.
    package func prepare(_ hooks: [WebhookSettings]) throws(Errno) {
        for hook in hooks {
            let sender = try sender(hook)
            state.withLock { $0.prepared.append(sender) }
        }
    }

    /// Starts the threads.
    ///
    /// - Parameter onEvent: called for each delivery that was given up. Hooks never get these events.
    package func start(onEvent: @escaping @Sendable (DaemonEvent) -> Void) throws(Errno) {
        let prepared = state.withLock { state in
            state.onEvent = onEvent
            return state.prepared
        }
        for sender in prepared { try run(sender) }
    }

    /// Replaces the hooks. Those with the same settings continue; others end, and their waiting deliveries are dropped.
    /// Main thread.
    ///
    /// - Parameter isSame: whether the hook of that name keeps its settings.
    package func replace(with hooks: [WebhookSettings], keeping isSame: (String) -> Bool) throws(Errno) {
        let names = hooks.map(\.name)
        let running = state.withLock { $0.running }
        func isKept(_ running: Running) -> Bool {
            let name = running.sender.settings.name
            return names.contains(name) && isSame(name)
        }
        let (kept, ended) = (running.filter(isKept), running.filter { !isKept($0) })
        let present = kept.map(\.sender.settings.name)
        var begun: [WebhookSender] = []
        for hook in hooks where !present.contains(hook.name) { begun.append(try sender(hook)) }
        // From here on, the new ones take events. The old threads may need a while to end.
        state.withLock { state in (state.prepared, state.running) = (begun, kept) }
        for running in ended {
            let counters = running.sender.cancel()
            begun.first { $0.settings.name == running.sender.settings.name }?.inherit(counters)
        }
        let deadline = MonotonicClock().now() + Self.removalPatience
        for running in ended { _ = running.thread.join(until: deadline) }
        for sender in begun { try run(sender) }
    }

    private func sender(_ hook: WebhookSettings) throws(Errno) -> WebhookSender {
        try WebhookSender(hook, clock: clock) { [weak self] event in
            self?.state.withLock { $0.onEvent }?(event)
        }
    }

    private func run(_ sender: WebhookSender) throws(Errno) {
        let number = state.withLock { state in
            defer { state.threads = (state.threads + 1) % 100 }
            return state.threads
        }
        let thread = try WorkerThread(name: "up-hook-\(number)") { sender.run() }
        state.withLock { state in
            state.prepared.removeAll { $0 === sender }
            state.running.append(Running(sender: sender, thread: thread))
        }
    }

    /// Offers an event to the hooks that want it. `/events` has the same event.
    package func offer(number: UInt64, _ event: EventRecord) {
        // An event that a hook has caused goes to no hook.
        let ofHooks = JSONValue.Member("of", .string(DaemonEvent.Name.webhookFailed.rawValue))
        let name = DaemonEvent.Name(rawValue: event.name)
        guard name != .webhookFailed, name != .repetitionsLeftOut || !event.fields.contains(ofHooks) else { return }
        let senders = state.withLock { $0.senders }.filter { $0.settings.events.contains(event.name) }
        guard !senders.isEmpty else { return }
        let message = WebhookMessage(number: number, event, instance: instance)
        for sender in senders { sender.offer(message) }
    }

    package var status: [WebhookStatus] { state.withLock { $0.senders }.map(\.status) }

    /// Delivers the waiting messages, until `deadline` at most, and ends all threads.
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
