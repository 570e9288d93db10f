internal import MediaCore

/// Measures how late bytes arrive, and whether they move at all, from samples of sent and outstanding bytes. Pure; one
/// for each connection.
struct LinkMeter {
    /// The maximum number of samples: about six seconds, which is longer than most send timeouts.
    private static let capacity = 64

    /// For each sample: bytes sent since the connection began, and the lag of the next packet in the log.
    private var samples: [(time: MediaTime, sent: UInt64, backlog: MediaTime)] = []
    private(set) var delivered: UInt64 = 0
    private(set) var outstanding = 0
    /// When bytes were last delivered, or none were outstanding.
    private var lastMovement: MediaTime
    /// The shortest round trip: the time that bytes are outstanding on a path without a queue.
    private var roundTrip = MediaTime.zero

    init(at now: MediaTime) {
        lastMovement = now
        samples.reserveCapacity(Self.capacity + 1)
    }

    /// Adds a sample, about ten times a second.
    mutating func note(
        sent: UInt64, outstanding: Int, roundTrip: MediaTime = .zero, backlog: MediaTime = .zero, at now: MediaTime
    ) {
        let delivered = sent - min(sent, UInt64(max(0, outstanding)))
        if delivered > self.delivered || outstanding == 0 { lastMovement = now }
        self.delivered = max(self.delivered, delivered)
        self.outstanding = outstanding
        self.roundTrip = roundTrip
        // The last delivered sample stays, because it tells when the next bytes were sent.
        while samples.count > 1, samples[1].sent <= self.delivered { samples.removeFirst() }
        if samples.count == Self.capacity { samples.removeLast() }
        samples.append((now, sent, backlog))
    }

    /// Leaves out `lost`, a time in which nothing was measured: outstanding bytes do not age by it.
    mutating func forgive(_ lost: MediaTime) {
        lastMovement += lost
        for index in samples.indices { samples[index].time += lost }
    }

    /// How long no byte has been delivered although some are outstanding.
    func stalled(at now: MediaTime) -> MediaTime { outstanding > 0 ? now - lastMovement : .zero }

    /// How long the oldest outstanding byte has been on its way, beyond the shortest round trip.
    func socketLag(at now: MediaTime) -> MediaTime {
        guard let oldest else { return .zero }
        return max(.zero, now - oldest.time - roundTrip)
    }

    /// How late the other side is: the larger of two lags, which run at the same time and are therefore not added. One
    /// is the log's. The other is that of the oldest outstanding byte, plus the log's lag when that byte was sent.
    func lateness(behind backlog: MediaTime, at now: MediaTime) -> MediaTime {
        max(backlog, socketLag(at: now) + (oldest?.backlog ?? .zero))
    }

    /// The sample in which the oldest outstanding byte was sent.
    private var oldest: (time: MediaTime, sent: UInt64, backlog: MediaTime)? {
        outstanding > 0 ? samples.first { $0.sent > delivered } : nil
    }
}
