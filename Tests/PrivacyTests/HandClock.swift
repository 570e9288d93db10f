import LinuxSystem
import MediaCore

/// A clock that stands still until it is turned; far ahead of the machine's, by which threads wait.
final class HandClock: TimeSource {
    private let time = Monitor(MonotonicClock().now() + .seconds(100_000))

    func now() -> MediaTime { time.withLock { $0 } }
    func turn(_ span: MediaTime) { time.withLock { $0 += span } }
}
