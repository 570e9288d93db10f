internal import Ingest
internal import LinuxSystem
package import MediaCore

/// Whether the data threads get on: what a watchdog, and /healthz, hang on.
///
/// The main thread looks some times a second; whoever asks gets what it saw last, and waits for nobody.
extension BroadcastHost {
    struct Progress {
        var watch: ProgressWatch
        var lastLook: MediaTime
        var stuck: ProgressWatch.Stuck?
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
    /// - Returns: what does not get on, as a sentence; nil where all is well.
    package func watchProgress() -> String? {
        let marks = [server.work] + (current?.workMarks ?? [])
        let now = clock.now()
        return progress.withLock { progress in
            progress.lastLook = now
            progress.stuck = progress.watch.look(marks, at: now)
            return progress.stuck?.sentence
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
            return progress.stuck?.sentence
        }
    }
}

extension ProgressWatch.Stuck {
    var sentence: String { "\(name) has been in one piece of work for \(since), of at most \(limit): it hangs" }
}
