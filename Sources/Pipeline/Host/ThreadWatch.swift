internal import Ingest
package import LinuxSystem
package import MediaCore

/// Whether the data threads make progress: what a watchdog, and /healthz, depend on.
///
/// The main thread looks some times a second; whoever asks gets what it saw last, and waits for nobody.
package final class ThreadWatch: Sendable {
    private struct State {
        var watch: ProgressWatch
        var lastLook: MediaTime
        /// The main thread looks.
        var isWatched = true
    }

    /// What one piece of work may take where no watchdog says: far more than the slowest encoder takes for a frame.
    package static let usualPatience = MediaTime.seconds(10)

    private let state: Monitor<State>
    private let server: WorkMark
    private let current: CurrentBroadcast
    private let clock: any TimeSource

    /// - Parameter server: the ingest thread's work.
    init(server: WorkMark, _ current: CurrentBroadcast, clock: any TimeSource) {
        (self.server, self.current, self.clock) = (server, current, clock)
        state = Monitor(State(watch: ProgressWatch(patience: Self.usualPatience), lastLook: clock.now()))
    }

    /// Before the first look: what one piece of work may take. A watchdog is fed in time where this is half of its
    /// time.
    package func setPatience(_ patience: MediaTime) {
        state.withLock { $0.watch = ProgressWatch(patience: patience) }
    }

    /// The main thread waits for the others from here on, and looks no more.
    func end() { state.withLock { $0.isWatched = false } }

    /// Some times a second, by the main thread: looks at every data thread.
    ///
    /// - Parameter others: calls its argument with the work of each thread that is not the host's.
    /// - Returns: what does not get on, as a sentence; nil where all is well.
    package func look(and others: ((WorkMark) -> Void) -> Void = { _ in }) -> String? {
        // Not under the lock: a thread that hangs may hold another, and whoever asks is not to wait for it.
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

    /// Any thread: what does not get on, as a sentence; nil while all is well.
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
