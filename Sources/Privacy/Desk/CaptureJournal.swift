internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// The latest changes of the capture state, in order, and the watchers that each change wakes. Any thread.
///
/// Every reader has its own position, so that it also sees short captures. A reader that is more than `capacity`
/// changes behind gets only the newest ones. The capture numbers still tell it how many captures it has missed.
final class CaptureJournal: Sendable {
    static let capacity = 64

    private struct State {
        /// With consecutive numbers; the last one has the number `last`.
        var changes: [CaptureStateReport] = []
        var last: UInt64 = 0
        var current: CaptureStateReport
        /// On the monotonic clock.
        var currentSince: MediaTime
        var watchers: [UInt64: @Sendable () -> Void] = [:]
        var watcherCount: UInt64 = 0
    }
    private let state: Monitor<State>

    /// Begins with the state "not captured".
    init(at now: MediaTime) {
        var nothing = CaptureStateReport()
        nothing.since = UnixTime.milliseconds
        state = Monitor(State(current: nothing, currentSince: now))
    }

    /// Notes a change and wakes all watchers.
    func append(_ report: CaptureStateReport, at now: MediaTime) {
        // Wakes under the lock, so that a cancelled watcher is not woken. A wake only posts to another thread's queue.
        state.withLock { state in
            if state.changes.count == Self.capacity { state.changes.removeFirst() }
            state.changes.append(report)
            state.last += 1
            (state.current, state.currentSince) = (report, now)
            for wake in state.watchers.values { wake() }
        }
    }

    /// The current state, and the number of the change that led to it.
    func now(at time: MediaTime) -> CaptureStateNews {
        state.withLock { state in
            var report = state.current
            report.milliseconds = Int((time - state.currentSince).milliseconds)
            return CaptureStateNews([report], number: state.last)
        }
    }

    /// The changes after `number`, as far as they are kept.
    func news(after number: UInt64) -> CaptureStateNews {
        state.withLock { state in
            let count = Int(clamping: state.last - min(number, state.last))
            return CaptureStateNews(Array(state.changes.suffix(count)), number: state.last)
        }
    }

    /// Calls `wake` at each change, on the thread that makes it, so it must not wait. Returns a function that ends the
    /// watch.
    func watch(_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.watcherCount += 1
            state.watchers[state.watcherCount] = wake
            return state.watcherCount
        }
        return { [self] in state.withLock { $0.watchers[number] = nil } }
    }
}
