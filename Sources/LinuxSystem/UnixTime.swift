internal import Glibc

/// CLOCK_REALTIME, for output to people and programs. It steps when the clock is set.
package enum UnixTime {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static var milliseconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
    }
}
