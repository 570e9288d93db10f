package import LinuxSystem
package import MediaCore

/// Marks where a thread waits for the answer of a display server, which may never come, so that another thread can tell
/// the user. One thread asks, and one thread looks.
package final class AnswerWatch: Sendable {
    /// A server that was asked nothing for so long is asked: a still screen looks the same as a server that hangs.
    package static let rest = MediaTime.seconds(5)
    private let silence = Monitor(AnswerSilence())
    private let clock = MonotonicClock()
    private let back: @Sendable () -> Void
    /// Questions that begin while a thread waits are noticed at least so often, which is well below the limit.
    private static let longestWait = MediaTime.seconds(2)

    /// - Parameter back: called by the thread that asks, when an answer comes that the user was told to be missing.
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

    /// Waits for a thread that asks.
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
