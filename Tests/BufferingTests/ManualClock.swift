import LinuxSystem
import MediaCore

/// A clock that a test turns by hand.
final class ManualClock: TimeSource {
    private let time = Monitor(MediaTime.zero)
    func now() -> MediaTime { time.withLock { $0 } }
    func advance(by step: MediaTime) { time.withLock { $0 += step } }
}
