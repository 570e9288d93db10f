internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore
internal import Timeline

/// Gives every sample its broadcast time, and publishes the clock's offset.
///
/// Ingest thread only, apart from `counters`.
final class SampleTimes: @unchecked Sendable /* the timeline belongs to the ingest thread */ {
    private var timeline = BroadcastTimeline()
    private let clock: BroadcastClock
    private let published: Monitor<TimelineCounters>

    init(clock: BroadcastClock) {
        self.clock = clock
        published = Monitor(timeline.counters)
    }

    /// Any thread: the counters of the timeline.
    var counters: TimelineCounters { published.withLock { $0 } }

    func place(_ track: TimelineTrack, pts: MediaTime, duration: MediaTime, arrival: MediaTime) -> Placement {
        let placement = timeline.place(
            track, pts: pts, duration: duration, arrival: arrival,
            running: timeline.hasStarted ? nil : clock.publishedOffset)
        clock.publish(offset: timeline.clockOffset)
        let counters = timeline.counters
        published.withLock { $0 = counters }
        return placement
    }
}
