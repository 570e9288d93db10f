internal import MediaCore

/// Notices a server whose kernel takes bytes while the server itself does nothing with them: it has acknowledged before
/// (RTMP 1.0, 5.4.3), and now acknowledges nothing although more than its usual step has reached it.
///
/// Pure; servers that never acknowledge are never blamed.
struct AcknowledgementWatch {
    private let window: UInt64
    private var largestStep: UInt64
    private var acknowledged: UInt64 = 0
    private var count = 0
    /// Acknowledgements before a server is taken for one that goes on with them.
    private var leastCount = 1
    private var overdueSince: MediaTime?

    /// - Parameter window: bytes after which the server was asked to acknowledge.
    init(window: UInt32) {
        self.window = UInt64(window)
        largestStep = self.window
    }

    /// A new connection: what was learnt of the server stays, so that one with habits of its own is not thrown out
    /// again and again.
    ///
    /// - Parameter wasOverdue: the last one was given up because of this. One that acknowledges once and no more is
    ///   then let be.
    mutating func reconnect(wasOverdue: Bool) {
        (acknowledged, count, overdueSince) = (0, 0, nil)
        if wasOverdue { leastCount = 2 }
    }

    /// - Parameters:
    ///   - delivered: bytes that the server's kernel has confirmed.
    ///   - acknowledged: bytes that the server says it has received; nil before its first word.
    /// - Returns: for how long an acknowledgement has been overdue.
    mutating func note(delivered: UInt64, acknowledged: UInt64?, at now: MediaTime) -> MediaTime {
        guard let acknowledged else { return .zero }
        if acknowledged > self.acknowledged {
            largestStep = max(largestStep, acknowledged - self.acknowledged)
            self.acknowledged = acknowledged
            count += 1
            overdueSince = nil
        }
        // One acknowledgement alone may be a courtesy of the handshake; one of a whole window is what was asked for.
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
