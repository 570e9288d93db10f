package import LinuxSystem
package import MediaCore

/// Tracks a thread's wait for the answer of a display server, which may never come, so that another thread can tell the
/// user. One thread asks, and one thread looks.
package final class AnswerWatch: Sendable {
    /// How long a server goes without a request before it is asked: a still screen looks the same as a server that
    /// hangs.
    package static let rest = MediaTime.seconds(5)
    private let silence = Monitor(AnswerSilence())
    private let clock = MonotonicClock()
    private let back: @Sendable () -> Void
    /// The longest wait between two looks. It is well below the limit, so that requests made meanwhile are noticed in
    /// time.
    private static let longestWait = MediaTime.seconds(2)

    /// - Parameter back: called by the asking thread when an answer comes after the user was told that it was missing.
    package init(back: @escaping @Sendable () -> Void) { self.back = back }

    package func ask(now: MediaTime) { silence.withLock { $0.ask(now: now) } }

    /// - Parameter isLost: the connection has ended, and no answer comes.
    package func answered(isLost: Bool) {
        if silence.withLock({ $0.answered() }), !isLost { back() }
    }

    /// When to look again.
    package func nextLook(now: MediaTime) -> MediaTime {
        let latest = now + Self.longestWait
        return silence.withLock { $0.due.map { min($0, latest) } ?? latest }
    }

    /// - Returns: whether the user has to be told that the server does not answer.
    package func look(now: MediaTime) -> Bool { silence.withLock { $0.look(now: now) } }

    /// Waits until the asking thread is done.
    ///
    /// - Parameters:
    ///   - done: signalled by that thread; it is cleared.
    ///   - stop: a descriptor that ends the wait when it is readable; -1 for none.
    ///   - silent: called when the server does not answer.
    /// - Returns: whether the thread is done.
    package func wait(for done: EventDescriptor, stop: CInt, silent: () throws -> Void) rethrows -> Bool {
        while true {
            let now = clock.now()
            if look(now: now) { try silent() }
            var wait = GrabWait(orders: stop, now: now)
            wait.note(done.raw)
            wait.note(nextLook(now: now))
            let isStopped = wait.wait()
            if done.clear() { return true }
            if isStopped { return false }
        }
    }
}
