internal import MediaCore

/// A rate over the last few seconds, from a total that is looked at now and then.
struct RateGauge {
    /// Looks that are kept: with one a second, the rate of the last five seconds.
    private static let window = 6
    private var looks: [(time: MediaTime, total: UInt64)] = []

    /// Takes note of `total` at `time` and returns the rate a second since the oldest look; zero for the first.
    mutating func note(_ total: UInt64, at time: MediaTime) -> Double {
        looks.append((time, total))
        if looks.count > Self.window { looks.removeFirst() }
        let oldest = looks[0]
        let seconds = (time - oldest.time).secondsAsDouble
        return seconds > 0 && total >= oldest.total ? Double(total - oldest.total) / seconds : 0
    }
}
