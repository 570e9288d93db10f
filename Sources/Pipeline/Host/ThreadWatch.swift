internal import Ingest
package import LinuxSystem
package import MediaCore

/// Checks that the data threads make progress. The watchdog and /healthz depend on it.
///
/// The main thread checks several times a second. All threads can read its last result without waiting.
package final class ThreadWatch: Sendable {
    private struct State {
        var watch: ProgressWatch
        var lastLook: MediaTime
        /// Whether the main thread checks.
        var isWatched = true
    }

    /// The most time of one piece of work without a watchdog: far more than the slowest encoder takes for a frame.
    package static let usualPatience = MediaTime.seconds(10)

    private let state: Monitor<State>
    private let server: WorkMark
    private let current: CurrentBroadcast
    private let clock: any TimeSource

    /// - Parameter server: the mark of the ingest thread.
    init(server: WorkMark, _ current: CurrentBroadcast, clock: any TimeSource) {
        (self.server, self.current, self.clock) = (server, current, clock)
        state = Monitor(State(watch: ProgressWatch(patience: Self.usualPatience), lastLook: clock.now()))
    }

    /// Sets how long one piece of work may take. Call before the first check. Half of systemd's watchdog interval is
    /// short enough: a slow thread is then reported before systemd ends the daemon.
    package func setPatience(_ patience: MediaTime) {
        state.withLock { $0.watch = ProgressWatch(patience: patience) }
    }

    /// Ends the checks: from now on the main thread waits for the others.
    func end() { state.withLock { $0.isWatched = false } }

    /// Checks every data thread. Called several times a second by the main thread.
    ///
    /// - Parameter others: calls its argument with the mark of each thread that is not the host's.
    /// - Returns: a sentence about the thread without progress; nil if all make progress.
    package func look(and others: ((WorkMark) -> Void) -> Void = { _ in }) -> String? {
        // Outside the lock: a hanging thread may hold another lock, and readers must not wait for it.
        var watch = state.withLock { $0.watch }
        let now = clock.now()
        watch.begin(at: now)
        watch.look(at: server)
        current.broadcast?.forEachWorkMark { watch.look(at: $0) }
        others { watch.look(at: $0) }
        return state.withLock { [watch] state in
            state.lastLook = now
            state.watch = watch
            return watch.stuck?.sentence
        }
    }

    /// Any thread: a sentence about the thread without progress; nil if all make progress.
    package var wedged: String? {
        let now = clock.now()
        return state.withLock { state in
            let silence = now - state.lastLook
            guard silence < state.watch.patience || !state.isWatched else {
                return "the main thread has not looked after the others for \(silence): it hangs"
            }
            return state.watch.stuck?.sentence
        }
    }
}

extension ProgressWatch.Stuck {
    fileprivate var sentence: String {
        "\(name) has been in one piece of work for \(since), of at most \(limit): it hangs"
    }
}
