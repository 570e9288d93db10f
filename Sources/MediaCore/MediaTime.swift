/// A point or a span on a media timeline, in nanoseconds.
package struct MediaTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    package static func milliseconds(_ value: Int64) -> MediaTime { MediaTime(nanoseconds: value * 1_000_000) }
    package static func microseconds(_ value: Int64) -> MediaTime { MediaTime(nanoseconds: value * 1_000) }
    package static func seconds(_ value: Int64) -> MediaTime { MediaTime(nanoseconds: value * 1_000_000_000) }

    /// Rounded to the nearest nanosecond; for delays and estimates, not for timestamps.
    package init(seconds: Double) { nanoseconds = Int64((seconds * 1e9).rounded()) }

    /// The time of sample `index` at `rate` samples per second, rounded down. Exact for days at 192 kHz.
    package init(sample index: Int64, rate: Int) {
        let rate64 = Int64(rate)
        let (seconds, rest) = index.quotientAndRemainder(dividingBy: rate64)
        nanoseconds = seconds * 1_000_000_000 + rest * 1_000_000_000 / rate64
    }

    /// The index of the sample that is playing at this time, rounded to nearest.
    package func sampleIndex(rate: Int) -> Int64 {
        let rate64 = Int64(rate)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * rate64 + (rest * rate64 + (rest < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000
    }

    package static let zero = MediaTime(nanoseconds: 0)

    /// Whole milliseconds, rounded towards minus infinity.
    package var milliseconds: Int64 {
        let (q, r) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return r < 0 ? q - 1 : q
    }
    /// For people and JSON only.
    package var secondsAsDouble: Double { Double(nanoseconds) / 1e9 }

    package static func < (a: MediaTime, b: MediaTime) -> Bool { a.nanoseconds < b.nanoseconds }
    package static func + (a: MediaTime, b: MediaTime) -> MediaTime {
        MediaTime(nanoseconds: a.nanoseconds + b.nanoseconds)
    }
    package static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        MediaTime(nanoseconds: a.nanoseconds - b.nanoseconds)
    }
    package static func += (a: inout MediaTime, b: MediaTime) { a = a + b }
    package static func -= (a: inout MediaTime, b: MediaTime) { a = a - b }
    package static func * (a: MediaTime, b: Int64) -> MediaTime { MediaTime(nanoseconds: a.nanoseconds * b) }

    package var magnitude: MediaTime {
        MediaTime(nanoseconds: nanoseconds.magnitude > Int64.max ? .max : abs(nanoseconds))
    }
    package var description: String {
        let sign = nanoseconds < 0 ? "-" : ""
        let (seconds, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        let millis = String(rest / 1_000_000)
        return "\(sign)\(seconds).\(String(repeating: "0", count: 3 - millis.count))\(millis) s"
    }
}

extension MediaTime {
    /// Rounds down to the nanosecond, and limits spans to a century.
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let bounded = min(max(seconds, -3_000_000_000), 3_000_000_000)
        self.init(nanoseconds: bounded * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
