internal import Glibc

/// The time of day, for output. Measurements use the monotonic clock.
package enum WallClock {
    /// UTC, RFC 3339 with milliseconds.
    package static func timestamp() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var parts = unsafe tm()
        _ = unsafe gmtime_r(&now.tv_sec, &parts)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let milliseconds = String(now.tv_nsec / 1_000_000 + 1000).dropFirst()
        let date = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        let time = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(milliseconds)"
        return "\(date)T\(time)Z"
    }
}
