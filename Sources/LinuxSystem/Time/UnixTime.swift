internal import Glibc
package import MediaCore

/// CLOCK_REALTIME, for people and other programs. It steps when the clock is set.
package enum UnixTime {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static var milliseconds: Int { Int(now.milliseconds) }

    /// Since 1970-01-01T00:00:00Z.
    package static var now: MediaTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return MediaTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
