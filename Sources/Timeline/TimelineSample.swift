/// A sample before its placement. Times are in nanoseconds.
struct TimelineSample: Sendable {
    var track: TimelineTrack
    /// The client's PTS; any value.
    var pts: Int64
    /// The arrival on the daemon's monotonic clock.
    var arrival: Int64
    /// The broadcast time of the sample without latency.
    var due: Int64 = 0

    /// How far the sample is ahead of the broadcast clock in an era; negative is late.
    func deviation(in era: ClockEras.Era) -> Int64 { pts &- era.base &- due }
}
