internal import Glibc
package import LinuxSystem
internal import MediaCore

/// The signals that end a program's broadcast, handled by a thread of their own: whatever the other threads wait for, a
/// daemon that stands still does not keep the program from ending.
///
/// After the first signal, the broadcast ends in good order while the daemon says something. The second one ends the
/// program. Create it before other threads start. SIGINT counts also where it is ignored, as a shell script has it for
/// programs in the background.
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

    /// For `poll`: readable once a signal has come, and from then on.
    package var descriptor: CInt { come.raw }
    /// Whether a signal has come, or `end` was called.
    package var isEnding: Bool { state.withLock { $0.ending.isEnding } }
    /// Whether a signal has come: the user ends the program.
    package var isSignalled: Bool { state.withLock { $0.ending.isSignalled } }

    /// Whether a connection was cut because the daemon did not answer.
    package var hasCut: Bool { state.withLock { $0.hasCut } }

    /// - Parameter signalled: called by the thread of the signals when one has come.
    package init(signalled: @escaping @Sendable () -> Void = {}) throws(Errno) {
        self.signalled = signalled
        (come, wake) = (try EventDescriptor(), try EventDescriptor())
        let signals = SignalBox(try SignalDescriptor(Self.numbers))
        let worker = try WorkerThread(name: "signals") { [self] in run(signals) }
        thread.withLock { $0 = worker }
    }

    /// What the user is told after a cut.
    package static let noGoodbye = "upcastd does not answer: the broadcast ends without its goodbye"

    private static let numbers = [SIGINT, SIGTERM]

    /// Which connection is cut when the program ends and the daemon is silent; nil for none.
    ///
    /// - Parameter hasBegun: the daemon has answered `started`. Before that, the first signal cuts it at once.
    package func watch(_ connection: CaptureConnection?, hasBegun: Bool = false) {
        state.withLock { state in
            state.connection = connection
            state.ending.hasBegun = hasBegun
        }
        wake.signal()
    }

    /// The program ends by itself: as after a signal, the next one ends it at once.
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
        // Nobody else may be reading what the daemon says.
        let heard = connection.lastHeard()
        let now = MonotonicClock().now()
        let isOver = state.withLock { state in
            guard state.connection === connection, state.ending.isOver(now: now, heard: heard) else { return false }
            if state.ending.hasBegun { state.hasCut = true }
            return true
        }
        if isOver { connection.abort() }
    }

    /// As the signal does by default, also where a script has started the program in the background: it ignores SIGINT.
    private static func die(_ number: CInt) {
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    /// Only its thread reads it.
    private final class SignalBox: Sendable {
        let descriptor: SignalDescriptor
        init(_ descriptor: consuming SignalDescriptor) { self.descriptor = descriptor }
    }
}
