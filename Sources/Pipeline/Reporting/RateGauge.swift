internal import MediaCore

/// A rate over the last few seconds, from a total that is sampled from time to time.
struct RateGauge {
    /// The number of samples that are kept: with one a second, the rate covers the last five seconds.
    private static let window = 6
    private var looks: [(time: MediaTime, total: UInt64)] = []

    /// Records `total` at `time`. Returns the rate per second since the oldest sample; zero for the first.
    mutating func note(_ total: UInt64, at time: MediaTime) -> Double {
        looks.append((time, total))
        if looks.count > Self.window { looks.removeFirst() }
        let oldest = looks[0]
        let seconds = (time - oldest.time).secondsAsDouble
        return seconds > 0 && total >= oldest.total ? Double(total - oldest.total) / seconds : 0
    }
}
