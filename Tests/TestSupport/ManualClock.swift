import LinuxSystem
package import MediaCore

/// A clock that stands still until a test turns it.
package final class ManualClock: TimeSource {
    private let time: Monitor<MediaTime>

    package init(_ start: MediaTime = .zero) { time = Monitor(start) }

    /// One that is `lead` ahead of the machine's clock, by which threads wait: nothing that they wait for comes by time
    /// alone.
    package static func ahead() -> ManualClock { ManualClock(MonotonicClock().now() + lead) }
    package static let lead = MediaTime.seconds(100_000)

    package func now() -> MediaTime { time.withLock { $0 } }
    package func advance(by span: MediaTime) { time.withLock { $0 += span } }
    package func set(_ now: MediaTime) { time.withLock { $0 = now } }
}
