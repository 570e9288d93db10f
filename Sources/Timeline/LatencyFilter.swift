internal import MediaCore

/// The least latency of recent samples: arrival minus PTS without jitter, which only ever adds latency.
///
/// Keeps the minimum of each of the last eight seconds. It therefore follows a drifting clock with a lag of seconds,
/// and a faster sample takes effect at once. In nanoseconds, with wrapping arithmetic, because the values come from a
/// client.
struct LatencyFilter: Sendable {
    private static let windowLength: Int64 = 1_000_000_000
    /// A window counts if it has at least this many samples.
    private static let significantSamples = 10

    private struct Window: Sendable {
        var minimum = Int64.max
        var samples = 0
    }
    private var windows: InlineArray<8, Window> = .init(repeating: Window())
    private var current = 0
    private var currentEnd: Int64?

    /// Begins new windows up to `arrival`. Returns the minimum of a window that this closes, if it has enough samples.
    mutating func advance(to arrival: Int64) -> Int64? {
        guard let end = currentEnd else {
            currentEnd = arrival &+ Self.windowLength
            return nil
        }
        guard arrival &- end >= 0 else { return nil }
        let closed = windows[current]
        // At most one turn around the ring, however long no sample came.
        let steps = min((arrival &- end) / Self.windowLength + 1, Int64(windows.count))
        for _ in 0..<steps {
            current = (current + 1) % windows.count
            windows[current] = Window()
        }
        currentEnd = arrival &+ Self.windowLength
        return closed.samples >= Self.significantSamples ? closed.minimum : nil
    }

    mutating func add(_ latency: Int64) {
        windows[current].minimum = min(windows[current].minimum, latency)
        windows[current].samples += 1
    }

    /// The minimum of all windows; nil with fewer than `samples` samples.
    func minimum(ofAtLeast samples: Int = 1) -> Int64? {
        var least = Int64.max
        var seen = 0
        for index in windows.indices {
            least = min(least, windows[index].minimum)
            seen += windows[index].samples
        }
        return seen >= samples ? least : nil
    }

    /// Discards all windows, because latencies of an old epoch do not apply to a new one.
    mutating func reset() { self = LatencyFilter() }
}
