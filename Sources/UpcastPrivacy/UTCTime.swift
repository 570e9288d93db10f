internal import Glibc

/// A point in time by the machine's clock, in UTC.
///
/// The same `Date` is `Date(timeIntervalSince1970: time.sinceEpoch / .seconds(1))`.
public struct UTCTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Time since 1970-01-01T00:00:00Z.
    public let sinceEpoch: Duration

    public init(sinceEpoch: Duration) { self.sinceEpoch = sinceEpoch }

    public static func < (a: Self, b: Self) -> Bool { a.sinceEpoch < b.sinceEpoch }

    /// RFC 3339 with milliseconds, such as `2026-11-23T09:30:00.250Z`.
    public var description: String {
        let (whole, rest) = sinceEpoch.components
        var milliseconds = rest / 1_000_000_000_000_000
        var seconds = Int(whole)
        if rest < 0 {
            seconds -= 1
            milliseconds = (1_000_000_000_000_000_000 + rest) / 1_000_000_000_000_000
        }
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "\(sinceEpoch) since 1970" }
        func digits(_ value: some BinaryInteger, _ count: Int) -> String {
            let text = "\(value)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let (year, month) = unsafe (digits(parts.tm_year + 1900, 4), digits(parts.tm_mon + 1, 2))
        let date = unsafe "\(year)-\(month)-\(digits(parts.tm_mday, 2))"
        let time = unsafe "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
        return "\(date)T\(time).\(digits(milliseconds, 3))Z"
    }
}
