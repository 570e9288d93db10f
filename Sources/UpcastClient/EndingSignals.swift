internal import Glibc
package import LinuxSystem
internal import MediaCore

/// Handles the signals that end a program's broadcast, on a thread of its own. So a daemon that hangs does not keep the
/// program from ending, whatever its other threads wait for.
///
/// After the first signal, the broadcast ends in good order, as long as the daemon keeps sending. The second signal
/// ends the program. Create this object before other threads start. SIGINT counts even if it is ignored, as in programs
/// that a shell script starts in the background.
package final class EndingSignals: Sendable {
    private struct State {
        var ending = EndingPatience()
        var connection: CaptureConnection?
        var isStopped = false
        var hasCut = false
    }

    private let state = Monitor(State())
    private let come: EventDescriptor
    private let wake: EventDescriptor
    private let signalled: @Sendable () -> Void
    private let thread = Monitor<WorkerThread?>(nil)
    private static let tickMilliseconds: CInt = 100

    /// For `poll`: readable from the first signal, or call of `end`, on.
    package var descriptor: CInt { come.raw }
    /// Whether a signal has come, or `end` was called.
    package var isEnding: Bool { state.withLock { $0.ending.isEnding } }
    /// Whether a signal has come: the user ends the program.
    package var isSignalled: Bool { state.withLock { $0.ending.isSignalled } }

    /// Whether a connection was cut because the daemon did not answer.
    package var hasCut: Bool { state.withLock { $0.hasCut } }

    /// - Parameter signalled: called on the signal thread for each signal that does not end the program.
    package init(signalled: @escaping @Sendable () -> Void = {}) throws(Errno) {
        self.signalled = signalled
        (come, wake) = (try EventDescriptor(), try EventDescriptor())
        let signals = SignalBox(try SignalDescriptor(Self.numbers))
        let worker = try WorkerThread(name: "signals") { [self] in run(signals) }
        thread.withLock { $0 = worker }
    }

    /// What the user is told after a cut.
    package static let noGoodbye = "upcastd does not answer: the broadcast ends without its goodbye"

    /// SIGHUP only if it is not ignored, as nohup does.
    private static var numbers: [CInt] {
        var hangup = sigaction()
        unsafe sigaction(SIGHUP, nil, &hangup)
        let handler = unsafe unsafeBitCast(hangup.__sigaction_handler.sa_handler, to: Int.self)
        let isIgnored = unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
        return [SIGINT, SIGTERM] + (isIgnored ? [] : [SIGHUP])
    }

    /// Sets the connection to cut when the program ends and the daemon is silent; nil for none.
    ///
    /// - Parameter hasBegun: whether the daemon has answered `started`. Before that, the first signal cuts the
    ///   connection at once.
    package func watch(_ connection: CaptureConnection?, hasBegun: Bool = false) {
        state.withLock { state in
            state.connection = connection
            state.ending.hasBegun = hasBegun
        }
        wake.signal()
    }

    /// The program ends by itself. As after a signal, the next signal ends it at once.
    package func end() {
        state.withLock { $0.ending.end(now: MonotonicClock().now()) }
        come.signal()
        wake.signal()
    }

    /// Ends the thread. Signals have no effect from then on.
    package func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
        thread.withLock { $0 }?.join()
    }

    private func run(_ signals: SignalBox) {
        while true {
            let isEnding = isEnding
            var waiting = (
                pollfd(fd: signals.descriptor.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.raw, events: Int16(POLLIN), revents: 0)
            )
            _ = unsafe withUnsafeMutableBytes(of: &waiting) {
                unsafe poll(
                    $0.assumingMemoryBound(to: pollfd.self).baseAddress!, 2, isEnding ? Self.tickMilliseconds : -1)
            }
            wake.clear()
            if state.withLock({ $0.isStopped }) { return }
            while let number = signals.descriptor.next() {
                // A terminal that closes sends it, and its shell once more.
                if number == SIGHUP, self.isEnding { continue }
                let now = MonotonicClock().now()
                if state.withLock({ $0.ending.signalled(now: now) }) { Self.die(number) }
                end()
                signalled()
            }
            cutIfSilent()
        }
    }

    private func cutIfSilent() {
        guard let connection = state.withLock({ $0.ending.isEnding ? $0.connection : nil }) else { return }
        // `lastHeard` reads from the socket, because perhaps no other thread does.
        let heard = connection.lastHeard()
        let now = MonotonicClock().now()
        let isOver = state.withLock { state in
            guard state.connection === connection, state.ending.isOver(now: now, heard: heard) else { return false }
            if state.ending.hasBegun { state.hasCut = true }
            return true
        }
        if isOver { connection.abort() }
    }

    /// Ends the program by the signal's default action, even if a script has started it in the background, with SIGINT
    /// ignored.
    private static func die(_ number: CInt) {
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    /// Only the signal thread reads it.
    private final class SignalBox: Sendable {
        let descriptor: SignalDescriptor
        init(_ descriptor: consuming SignalDescriptor) { self.descriptor = descriptor }
    }
}
