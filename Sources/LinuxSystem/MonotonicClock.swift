package import MediaCore
internal import Glibc

/// A source of monotonic time; tests inject their own.
package protocol TimeSource: Sendable {
    /// The time since an arbitrary fixed point; never goes back.
    func now() -> MediaTime
}

/// CLOCK_MONOTONIC.
package struct MonotonicClock: TimeSource {
    package init() {}
    package func now() -> MediaTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MediaTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
