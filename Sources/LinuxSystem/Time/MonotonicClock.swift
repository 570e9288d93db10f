package import MediaCore
internal import Glibc

/// A source of monotonic time, and how threads wait by it; tests inject their own.
package protocol TimeSource: Sendable {
    /// The time since an arbitrary fixed point; never goes back.
    func now() -> MediaTime

    /// Waits on `condition`, whose lock the caller holds, until it is woken or this clock reaches `deadline`. It may
    /// return earlier.
    ///
    /// - Returns: false if the deadline passed.
    func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool

    /// When a wait of the kernel, which knows only CLOCK_MONOTONIC, must end so that it lasts until `deadline`.
    ///
    /// The remaining time is computed once. Unlike `wait(on:until:)`, such a wait does not end when a test turns its
    /// clock.
    func kernelDeadline(_ deadline: MediaTime) -> MediaTime
}

extension TimeSource {
    /// Adds the time that is left by this clock to the kernel's time; at most a year, so that the sum does not
    /// overflow.
    package func kernelDeadline(_ deadline: MediaTime) -> MediaTime {
        MonotonicClock().now() + min(deadline - now(), .seconds(365 * 86_400))
    }
}

/// CLOCK_MONOTONIC.
package struct MonotonicClock: TimeSource {
    package init() {}

    package func now() -> MediaTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MediaTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool {
        condition.wait(until: deadline)
    }

    package func kernelDeadline(_ deadline: MediaTime) -> MediaTime { deadline }
}
