internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// The last changes of the capture state in their order, and who is woken by each. Any thread.
///
/// Every reader has a position of its own, so that none misses a capture because it was short. One that is more than
/// `capacity` changes behind is told the newest of them only: that there were captures it still learns, and by their
/// numbers how many.
final class CaptureJournal: Sendable {
    static let capacity = 64

    private struct State {
        /// Consecutive; the last one is `last`.
        var changes: [CaptureStateReport] = []
        var last: UInt64 = 0
        var current: CaptureStateReport
        /// Monotonic clock.
        var currentSince: MediaTime
        var watchers: [UInt64: @Sendable () -> Void] = [:]
        var watcherCount: UInt64 = 0
    }
    private let state: Monitor<State>

    /// Nothing is captured.
    init(at now: MediaTime) {
        var nothing = CaptureStateReport()
        nothing.since = UnixTime.milliseconds
        state = Monitor(State(current: nothing, currentSince: now))
    }

    /// Notes a change and wakes all watchers.
    func append(_ report: CaptureStateReport, at now: MediaTime) {
        // Woken under the lock, so that nobody is after its cancellation. A wake only posts to another thread's queue.
        state.withLock { state in
            if state.changes.count == Self.capacity { state.changes.removeFirst() }
            state.changes.append(report)
            state.last += 1
            (state.current, state.currentSince) = (report, now)
            for wake in state.watchers.values { wake() }
        }
    }

    /// The state as it is now, and the number of the change that has made it so.
    func now(at time: MediaTime) -> CaptureStateNews {
        state.withLock { state in
            var report = state.current
            report.milliseconds = Int((time - state.currentSince).milliseconds)
            return CaptureStateNews([report], number: state.last)
        }
    }

    /// What came after a change, as far as it is kept.
    func news(after number: UInt64) -> CaptureStateNews {
        state.withLock { state in
            let count = Int(clamping: state.last - min(number, state.last))
            return CaptureStateNews(Array(state.changes.suffix(count)), number: state.last)
        }
    }

    /// Calls `wake` at each change, on the thread that makes it: it must not wait. Returns what ends that.
    func watch(_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.watcherCount += 1
            state.watchers[state.watcherCount] = wake
            return state.watcherCount
        }
        return { [self] in state.withLock { $0.watchers[number] = nil } }
    }
}
