/// How often something took how long, in buckets that are an eighth of their power of two wide: quantiles are exact to
/// 6 %, from a microsecond to a minute.
///
/// Takes no memory after `init`. Not thread-safe.
package struct LatencyHistogram: Sendable {
    /// Exact below it; the first power of two that is divided.
    private static let linear = 16
    private static let largestExponent = 25
    private var buckets = [UInt64](repeating: 0, count: linear + (largestExponent - 3) * 8)
    private var count: UInt64 = 0
    private var total: UInt64 = 0
    private var largest: UInt64 = 0

    package init() {}

    package mutating func note(_ time: MediaTime) {
        let microseconds = UInt64(clamping: time.nanoseconds / 1000)
        buckets[Self.bucket(of: microseconds)] += 1
        count += 1
        total &+= microseconds
        largest = max(largest, microseconds)
    }

    package var summary: LatencySummary {
        guard count > 0 else { return LatencySummary() }
        return LatencySummary(
            count: count, average: .microseconds(Int64(clamping: total / count)), median: quantile(0.5),
            percentile99: quantile(0.99), maximum: .microseconds(Int64(clamping: largest)))
    }

    /// The middle of the bucket in which the value lies that `share` of all do not exceed.
    private func quantile(_ share: Double) -> MediaTime {
        let rank = max(1, UInt64((Double(count) * share).rounded(.up)))
        var seen: UInt64 = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            guard seen >= rank else { continue }
            let (start, end) = (Self.start(of: index), Self.start(of: index + 1))
            return .microseconds(Int64(min(largest, start + (end - start) / 2)))
        }
        return .microseconds(Int64(clamping: largest))
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= linear else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        guard exponent <= largestExponent else { return linear + (largestExponent - 3) * 8 - 1 }
        return linear + (exponent - 4) * 8 + Int((value >> (exponent - 3)) & 7)
    }

    private static func start(of bucket: Int) -> UInt64 {
        guard bucket >= linear else { return UInt64(bucket) }
        let (octave, eighth) = ((bucket - linear) / 8, (bucket - linear) % 8)
        return UInt64(8 + eighth) << (octave + 1)
    }
}

/// What a `LatencyHistogram` comes to; zeros where nothing was noted.
package struct LatencySummary: Equatable, Sendable {
    package var count: UInt64 = 0
    package var average = MediaTime.zero
    package var median = MediaTime.zero
    package var percentile99 = MediaTime.zero
    package var maximum = MediaTime.zero

    package init() {}

    fileprivate init(
        count: UInt64, average: MediaTime, median: MediaTime, percentile99: MediaTime, maximum: MediaTime
    ) {
        self.count = count
        self.average = average
        self.median = median
        self.percentile99 = percentile99
        self.maximum = maximum
    }
}
