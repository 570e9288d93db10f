package import MediaCore

/// Counts durations in buckets that are an eighth of their power of two wide. Quantiles are exact to 6 %, from a
/// microsecond to a minute.
///
/// Allocates no memory after `init`. Not thread-safe.
package struct LatencyHistogram: Sendable {
    /// Values below it are exact. It is the first power of two that is divided.
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
            count: count, total: total, atMost: atMost, average: .microseconds(Int64(clamping: total / count)),
            median: quantile(0.5), percentile99: quantile(0.99), maximum: .microseconds(Int64(clamping: largest)))
    }

    /// How many values are at most each of `LatencySummary.bounds`, to the width of a bucket.
    private var atMost: LatencySummary.Counts {
        var (seen, index) = (UInt64(0), 0)
        var counts = LatencySummary.Counts(repeating: 0)
        for (place, bound) in LatencySummary.bounds.enumerated() {
            while index < buckets.count, Self.start(of: index + 1) <= bound + 1 {
                seen += buckets[index]
                index += 1
            }
            counts[place] = seen
        }
        return counts
    }

    /// The middle of the bucket with the value that a fraction `share` of all values does not exceed.
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

/// The summary of a `LatencyHistogram`; zeros if it is empty.
package struct LatencySummary: Sendable {
    /// One count for each of `bounds`; stored inline, because a summary is made every second.
    package typealias Counts = InlineArray<13, UInt64>

    /// The bounds of `atMost` in microseconds, from fast to hopeless.
    package static let bounds: [UInt64] = [
        1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
        10_000_000,
    ]

    package var count: UInt64 = 0
    /// The sum of all values in microseconds.
    package var total: UInt64 = 0
    /// How many values are at most each of `bounds`.
    package var atMost = Counts(repeating: 0)
    package var average = MediaTime.zero
    package var median = MediaTime.zero
    package var percentile99 = MediaTime.zero
    package var maximum = MediaTime.zero

    package init() {}

    fileprivate init(
        count: UInt64, total: UInt64, atMost: Counts, average: MediaTime, median: MediaTime,
        percentile99: MediaTime, maximum: MediaTime
    ) {
        self.count = count
        self.total = total
        self.atMost = atMost
        self.average = average
        self.median = median
        self.percentile99 = percentile99
        self.maximum = maximum
    }
}

extension LatencySummary: Equatable {
    package static func == (a: LatencySummary, b: LatencySummary) -> Bool {
        a.count == b.count && a.total == b.total && a.average == b.average && a.median == b.median
            && a.percentile99 == b.percentile99 && a.maximum == b.maximum
            && a.atMost.indices.allSatisfy { a.atMost[$0] == b.atMost[$0] }
    }
}
