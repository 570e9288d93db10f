internal import MediaCore

/// Detects a server that hangs while its kernel still takes bytes. Such a server has acknowledged before (RTMP 1.0,
/// 5.4.3), and now acknowledges nothing although more than twice its largest step has reached it.
///
/// Pure. Never reports servers that never acknowledge.
struct AcknowledgementWatch {
    private let window: UInt64
    private var largestStep: UInt64
    private var acknowledged: UInt64 = 0
    private var count = 0
    /// The number of acknowledgements after which further ones are expected.
    private var leastCount = 1
    private var overdueSince: MediaTime?

    /// - Parameter window: the acknowledgement window that the server was sent, in bytes.
    init(window: UInt32) {
        self.window = UInt64(window)
        largestStep = self.window
    }

    /// Prepares for a new connection. The largest step stays, so that a server with unusual steps does not time out on
    /// each connection.
    ///
    /// - Parameter wasOverdue: whether the last connection was closed because of this watch. Then a server that
    ///   acknowledges only once is accepted.
    mutating func reconnect(wasOverdue: Bool) {
        (acknowledged, count, overdueSince) = (0, 0, nil)
        if wasOverdue { leastCount = 2 }
    }

    /// Leaves out `lost`, a time in which nothing was measured.
    mutating func forgive(_ lost: MediaTime) { overdueSince = overdueSince.map { $0 + lost } }

    /// - Parameters:
    ///   - delivered: bytes that the server's kernel has confirmed.
    ///   - acknowledged: bytes that the server has acknowledged; nil before its first acknowledgement.
    /// - Returns: how long an acknowledgement has been overdue.
    mutating func note(delivered: UInt64, acknowledged: UInt64?, at now: MediaTime) -> MediaTime {
        guard let acknowledged else { return .zero }
        if acknowledged > self.acknowledged {
            largestStep = max(largestStep, acknowledged - self.acknowledged)
            self.acknowledged = acknowledged
            count += 1
            overdueSince = nil
        }
        // A single acknowledgement may belong to the handshake, unless it covers a whole window.
        guard count >= 2 || acknowledged >= window && count >= leastCount, delivered > acknowledged,
            delivered - acknowledged > 2 * largestStep
        else {
            overdueSince = nil
            return .zero
        }
        let since = overdueSince ?? now
        overdueSince = since
        return now - since
    }
}
