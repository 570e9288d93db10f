internal import MediaCore

/// The least latency of recent samples: arrival minus PTS without jitter, which only ever adds latency.
///
/// Keeps the minimum of each of the last eight seconds. It therefore follows a drifting clock with a lag of seconds,
/// and a faster sample takes effect at once. A silence clears windows, but the minimum before it counts for eight more,
/// because the first samples after a stall are late. In nanoseconds, with wrapping arithmetic, because the values come
/// from a client.
struct LatencyFilter: Sendable {
    private static let windowLength: Int64 = 1_000_000_000
    /// A window counts if it has at least this many samples.
    private static let significantSamples = 10
    /// Fewer samples say nothing about the latency.
    private static let tellingSamples = 3

    /// Samples that become less late by this, from one half of a window to the next, are a backlog.
    private static let leastGain: Int64 = 50_000_000

    private struct Window: Sendable {
        /// The minimum of each half.
        var (early, late) = (Int64.max, Int64.max)
        var samples = 0
        var minimum: Int64 { min(early, late) }

        /// Whether the latency is about the same in both halves of the window.
        var isEven: Bool {
            samples >= LatencyFilter.significantSamples && early < .max && late < .max
                && early &- late < LatencyFilter.leastGain
        }
    }
    private var windows: InlineArray<8, Window> = .init(repeating: Window())
    private var current = 0
    private var currentEnd: Int64?
    private var isLateHalf = false
    /// The minimum before a silence that has cleared windows, and for how many more windows it counts.
    private var beforeSilence: (minimum: Int64, windows: Int)?

    /// Begins new windows up to `arrival`. Returns the minimum of a window that this closes, if it has enough samples
    /// of similar latency. It is then neither part of a backlog nor the beginning of a silence.
    mutating func advance(to arrival: Int64) -> Int64? {
        guard let end = currentEnd else {
            currentEnd = arrival &+ Self.windowLength
            return nil
        }
        isLateHalf = end &- arrival < Self.windowLength / 2
        guard arrival &- end >= 0 else { return nil }
        isLateHalf = false
        let closed = windows[current]
        // At most one turn around the ring, however long no sample came.
        let steps = min((arrival &- end) / Self.windowLength + 1, Int64(windows.count))
        remember(isSilence: steps > 1)
        for _ in 0..<steps {
            current = (current + 1) % windows.count
            windows[current] = Window()
        }
        currentEnd = arrival &+ Self.windowLength
        return closed.isEven ? closed.minimum : nil
    }

    private mutating func remember(isSilence: Bool) {
        if let before = beforeSilence {
            let minimum = min(before.minimum, minimum() ?? .max)
            beforeSilence = before.windows > 1 ? (minimum, before.windows - 1) : nil
        } else if isSilence, let known {
            beforeSilence = (known, windows.count)
        }
    }

    mutating func add(_ latency: Int64) {
        if isLateHalf {
            windows[current].late = min(windows[current].late, latency)
        } else {
            windows[current].early = min(windows[current].early, latency)
        }
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

    /// The minimum of all windows, and of those before a silence; nil with too few samples.
    var known: Int64? {
        guard let beforeSilence else { return minimum(ofAtLeast: Self.tellingSamples) }
        return min(beforeSilence.minimum, minimum() ?? .max)
    }

    /// Discards all windows, because latencies of an old era do not apply to a new one.
    mutating func reset() { self = LatencyFilter() }
}
