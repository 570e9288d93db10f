/// A sample on its way into the timeline; nanoseconds.
struct TimelineSample: Sendable {
    var track: TimelineTrack
    /// The client's, any value.
    var pts: Int64
    /// Our monotonic clock.
    var arrival: Int64
    /// Broadcast time at which it would stand if it had come without latency.
    var due: Int64 = 0

    /// How far ahead of the broadcast clock the sample stands in an epoch; negative is late.
    func deviation(in epoch: EpochTable.Epoch) -> Int64 { pts &- epoch.base &- due }
}
