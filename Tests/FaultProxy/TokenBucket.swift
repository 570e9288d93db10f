import MediaCore

/// Lets bytes through at a rate: what was not used in the last 20 ms is lost.
struct TokenBucket {
    private static let depth = 0.02
    /// As many bytes at once as one packet of a real link.
    private static let quantum = 1460.0

    /// Nil for no bound.
    private(set) var bitsPerSecond: Int?
    private var tokens = 0.0
    private var filledAt = MediaTime.zero

    private var bytesPerSecond: Double { Double(bitsPerSecond ?? 0) / 8 }

    mutating func setRate(_ bits: Int?, at now: MediaTime) {
        bitsPerSecond = bits
        tokens = 0
        filledAt = now
    }

    /// The bytes that may go now; 0 until there are enough for a packet.
    mutating func available(at now: MediaTime) -> Int {
        guard bitsPerSecond != nil else { return .max }
        tokens += (now - filledAt).secondsAsDouble * bytesPerSecond
        filledAt = now
        tokens = min(tokens, max(bytesPerSecond * Self.depth, 2 * Self.quantum))
        return tokens >= Self.quantum ? Int(tokens) : 0
    }

    mutating func take(_ bytes: Int) { if bitsPerSecond != nil { tokens -= Double(bytes) } }

    /// When `available` will be more than 0.
    func nextAvailable(after now: MediaTime) -> MediaTime {
        guard bitsPerSecond != nil, tokens < Self.quantum else { return now }
        return now + MediaTime(nanoseconds: Int64((Self.quantum - tokens) / bytesPerSecond * 1e9) + 1)
    }
}
