import Glibc
package import LinuxSystem
package import MediaCore

/// A TCP proxy on 127.0.0.1 that does to connections what networks do: slows, delays, stalls, swallows, corrupts, cuts
/// and refuses, on command or on a schedule.
///
/// One thread, `poll`, bounded buffers; any thread may command.
package final class FaultProxy: Sendable {
    private struct Shared {
        /// Given, and not begun yet.
        var schedules: [LinkSchedule] = []
        /// How many were begun.
        var begun = 0
        var isStopping = false
        var figures = LinkFigures()
        /// Why the proxy gave up, where it did.
        var failure: Errno?
    }

    package let port: UInt16
    private let shared = Monitor(Shared())
    private let wakeUp: EventDescriptor
    private let thread: WorkerThread

    /// Listens and forwards to `target` on 127.0.0.1, without a fault.
    ///
    /// - Parameters:
    ///   - port: where to listen; 0 for a free port.
    ///   - onCommand: called on the proxy's thread with every command that has taken effect.
    package init(
        to target: UInt16, port: UInt16 = 0, onCommand: @escaping @Sendable (LinkCommand) -> Void = { _ in }
    ) throws(Errno) {
        let listener = try ProxyListener(port: port)
        self.port = listener.port
        wakeUp = try EventDescriptor()
        nonisolated(unsafe) let core = ProxyCore(listener: listener, target: target, onCommand: onCommand)
        let (shared, wakeUp) = (shared, wakeUp)
        thread = try WorkerThread(name: "fault-proxy") {
            do throws(Errno) {
                while try Self.round(core, shared, wakeUp) {}
            } catch {
                shared.signal { $0.failure = error }
            }
        }
    }

    deinit {
        shared.withLock { $0.isStopping = true }
        wakeUp.signal()
        thread.join()
    }

    /// Gives a command, and returns when it has taken effect.
    package func apply(_ command: LinkCommand) throws(Errno) {
        try run(LinkSchedule([(at: .time(.zero), command: command)]))
    }

    /// Begins a schedule, beside those that are still running; returns when its first steps have taken effect.
    package func run(_ schedule: LinkSchedule) throws(Errno) {
        let number = shared.withLock { shared in
            shared.schedules.append(schedule)
            return shared.begun + shared.schedules.count
        }
        wakeUp.signal()
        let failure: Errno?? = shared.wait { shared in
            if let failure = shared.failure { return .some(failure) }
            return shared.begun >= number ? .some(nil) : nil
        }
        if let failure = failure ?? nil { throw failure }
    }

    package var figures: LinkFigures { shared.withLock { $0.figures } }

    /// Waits until the figures satisfy a condition; false when `deadline` (monotonic clock) comes first.
    package func wait(until deadline: MediaTime, _ condition: (LinkFigures) -> Bool) -> Bool {
        shared.wait(until: deadline) { condition($0.figures) ? true : nil } ?? false
    }

    /// New schedules, steps that are due, then bytes; false when the proxy is to end.
    private static func round(
        _ core: ProxyCore, _ shared: Monitor<Shared>, _ wakeUp: EventDescriptor
    ) throws(Errno) -> Bool {
        let (schedules, isStopping) = shared.withLock { ($0.schedules, $0.isStopping) }
        guard !isStopping else { return false }
        let now = MonotonicClock().now()
        for schedule in schedules { core.begin(schedule, at: now) }
        try core.runDueSteps(at: now)
        shared.signal { shared in
            shared.schedules.removeFirst(schedules.count)
            shared.begun += schedules.count
            shared.figures = core.figures
        }
        try core.serve(wakeUp: wakeUp, at: now)
        return true
    }
}
