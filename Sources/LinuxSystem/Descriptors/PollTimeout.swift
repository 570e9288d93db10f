package import MediaCore

extension MediaTime {
    /// The timeout for `poll`: whole milliseconds, rounded up, so that no caller wakes before a deadline and spins
    /// until it. 0 if the deadline has passed.
    package var pollTimeout: CInt {
        guard nanoseconds > 0 else { return 0 }
        return CInt(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }
}
