internal import Ingest
package import LinuxSystem
package import MediaCore

/// Whether the data threads get on: what a watchdog, and /healthz, hang on.
///
/// The main thread looks some times a second; whoever asks gets what it saw last, and waits for nobody.
extension BroadcastHost {
    struct Progress {
        var watch: ProgressWatch
        var lastLook: MediaTime
        /// The main thread looks.
        var isWatched = true
    }

    /// What one piece of work may take where no watchdog says: far more than the slowest encoder takes for a frame.
    package static let usualPatience = MediaTime.seconds(10)

    /// Before the first look: what one piece of work may take. A watchdog is fed in time where this is half of its
    /// time.
    package func setPatience(_ patience: MediaTime) {
        progress.withLock { $0.watch = ProgressWatch(patience: patience) }
    }

    /// Some times a second, by the main thread: looks at every data thread.
    ///
    /// - Parameter others: calls its argument with the work of each thread that is not the host's.
    /// - Returns: what does not get on, as a sentence; nil where all is well.
    package func watchProgress(and others: ((WorkMark) -> Void) -> Void = { _ in }) -> String? {
        // Not under the lock: a thread that hangs may hold another, and whoever asks is not to wait for it.
        var watch = progress.withLock { $0.watch }
        let now = clock.now()
        watch.begin(at: now)
        watch.look(at: server.work)
        current?.forEachWorkMark { watch.look(at: $0) }
        others { watch.look(at: $0) }
        return progress.withLock { [watch] progress in
            progress.lastLook = now
            progress.watch = watch
            return watch.stuck?.sentence
        }
    }

    /// Any thread: what does not get on, as a sentence; nil while all is well.
    package var wedged: String? {
        let now = clock.now()
        return progress.withLock { progress in
            let silence = now - progress.lastLook
            guard silence < progress.watch.patience || !progress.isWatched else {
                return "the main thread has not looked after the others for \(silence): it hangs"
            }
            return progress.watch.stuck?.sentence
        }
    }
}

extension ProgressWatch.Stuck {
    var sentence: String { "\(name) has been in one piece of work for \(since), of at most \(limit): it hangs" }
}
