package import MediaCore

extension MediaTime {
    /// A span as `poll` takes it: whole milliseconds, rounded up, so that nobody wakes before a deadline and spins
    /// until it; 0 for one that is over.
    package var pollTimeout: CInt {
        guard nanoseconds > 0 else { return 0 }
        return CInt(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }
}
