import MediaCore

/// Lets bytes through at a rate.
///
/// An idle link does not save: what nobody asked for in the last 20 ms is lost. While bytes wait, a real link carries
/// them without a break. If a busy machine wakes the proxy late then, it carries what a real link would have carried
/// meanwhile, or the link would be slower than its rate.
struct TokenBucket {
    private static let depth = 0.02
    /// The longest delay of the proxy that is made up for, in seconds.
    private static let longestDelay = 2.0
    /// A sender refills the socket within this time if it has bytes.
    private static let refill = MediaTime.milliseconds(20)
    /// As many bytes at once as one packet of a real link.
    private static let quantum = 1460.0

    /// Nil for no bound.
    private(set) var bitsPerSecond: Int?
    private var tokens = 0.0
    private var filledAt = MediaTime.zero
    /// Since when nothing has waited; nil while bytes wait.
    private var idleSince: MediaTime? = .zero

    private var bytesPerSecond: Double { Double(bitsPerSecond ?? 0) / 8 }

    mutating func setRate(_ bits: Int?, at now: MediaTime) {
        bitsPerSecond = bits
        restart(at: now)
    }

    /// Forgets what was left, and what waited.
    mutating func restart(at now: MediaTime) { (tokens, filledAt, idleSince) = (0, now, now) }

    /// The bytes that may go now; 0 until there are enough for a packet.
    mutating func available(at now: MediaTime) -> Int {
        guard bitsPerSecond != nil else { return .max }
        tokens += (now - filledAt).secondsAsDouble * bytesPerSecond
        filledAt = now
        let isIdle = idleSince.map { now - $0 >= Self.refill } ?? false
        tokens = min(tokens, max(bytesPerSecond * (isIdle ? Self.depth : Self.longestDelay), 2 * Self.quantum))
        return tokens >= Self.quantum ? Int(tokens) : 0
    }

    /// - Parameter isAll: false if only the rate keeps more bytes from following these.
    mutating func take(_ bytes: Int, isAll: Bool, at now: MediaTime) {
        guard bitsPerSecond != nil else { return }
        tokens -= Double(bytes)
        idleSince = isAll ? idleSince ?? now : nil
    }

    /// When `available` will be more than 0.
    func nextAvailable(after now: MediaTime) -> MediaTime {
        guard bitsPerSecond != nil, tokens < Self.quantum else { return now }
        return now + MediaTime(nanoseconds: Int64((Self.quantum - tokens) / bytesPerSecond * 1e9) + 1)
    }
}
