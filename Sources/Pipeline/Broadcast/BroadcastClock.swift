internal import LinuxSystem
internal import MediaCore
internal import Synchronization

/// The broadcast's clock for other threads: monotonic time minus an offset that the ingest thread publishes.
///
/// Only the ingest thread owns the timeline. The video and audio threads read the time without a lock.
final class BroadcastClock: Sendable {
    private static let notStarted = Int64.min
    private let offset = Atomic<Int64>(notStarted)
    let monotonic: any TimeSource

    init(_ monotonic: any TimeSource) { self.monotonic = monotonic }

    /// Ingest thread: `broadcast time = monotonic time - offset` from now on.
    func publish(offset value: MediaTime) {
        offset.store(value.nanoseconds == Self.notStarted ? Self.notStarted + 1 : value.nanoseconds, ordering: .relaxed)
    }

    /// Any thread: begins the broadcast's time now, at zero, for a client that has sent no sample. Has no effect once
    /// the time has begun.
    func start() {
        _ = offset.compareExchange(
            expected: Self.notStarted, desired: monotonic.now().nanoseconds, ordering: .relaxed)
    }

    /// The offset that was published last or set by `start`; nil before.
    var publishedOffset: MediaTime? {
        let value = offset.load(ordering: .relaxed)
        return value == Self.notStarted ? nil : MediaTime(nanoseconds: value)
    }

    /// The current broadcast time; nil before the broadcast's time has begun.
    func now() -> MediaTime? {
        let value = offset.load(ordering: .relaxed)
        guard value != Self.notStarted else { return nil }
        return MediaTime(nanoseconds: monotonic.now().nanoseconds &- value)
    }

    /// When, on the monotonic clock, the broadcast's clock will show `time`; nil before the broadcast's time has
    /// begun.
    func monotonicTime(of time: MediaTime) -> MediaTime? {
        let value = offset.load(ordering: .relaxed)
        guard value != Self.notStarted else { return nil }
        return MediaTime(nanoseconds: time.nanoseconds &+ value)
    }
}
