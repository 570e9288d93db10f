internal import LinuxSystem
internal import MediaCore
internal import Synchronization

/// The broadcast's clock as the other threads see it: monotonic time minus an offset that the ingest thread publishes.
///
/// The ingest thread alone owns the timeline; the video and audio threads only ask what time it is, without a lock.
final class BroadcastClock: Sendable {
    private static let notStarted = Int64.min
    private let offset = Atomic<Int64>(notStarted)
    let monotonic: any TimeSource

    init(_ monotonic: any TimeSource) { self.monotonic = monotonic }

    /// Ingest thread: `broadcast time = monotonic time - offset` from now on.
    func publish(offset value: MediaTime) {
        offset.store(value.nanoseconds == Self.notStarted ? Self.notStarted + 1 : value.nanoseconds, ordering: .relaxed)
    }

    /// Any thread: a broadcast whose client has sent nothing begins now, at zero. Where it has begun nothing happens.
    func start() {
        _ = offset.compareExchange(
            expected: Self.notStarted, desired: monotonic.now().nanoseconds, ordering: .relaxed)
    }

    /// What was published last, or set by `start`; nil before.
    var publishedOffset: MediaTime? {
        let value = offset.load(ordering: .relaxed)
        return value == Self.notStarted ? nil : MediaTime(nanoseconds: value)
    }

    /// Now on the broadcast's timeline; nil before it has begun.
    func now() -> MediaTime? {
        let value = offset.load(ordering: .relaxed)
        guard value != Self.notStarted else { return nil }
        return MediaTime(nanoseconds: monotonic.now().nanoseconds &- value)
    }

    /// When, on the monotonic clock, the broadcast's clock will show `time`; nil before it has begun.
    func monotonicTime(of time: MediaTime) -> MediaTime? {
        let value = offset.load(ordering: .relaxed)
        guard value != Self.notStarted else { return nil }
        return MediaTime(nanoseconds: time.nanoseconds &+ value)
    }
}
