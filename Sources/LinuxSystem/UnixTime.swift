internal import Glibc

/// CLOCK_REALTIME, for what people and other programs are to read; steps when somebody sets the clock.
package enum UnixTime {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static var milliseconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
    }
}
