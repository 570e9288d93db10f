internal import MediaCore

/// What leaves a socket, from samples of what was given to it and what is outstanding: how late bytes arrive, and
/// whether anything moves at all. Pure; one connection, one meter.
struct LinkMeter {
    /// Samples that are kept: six seconds of them, and few servers are waited for longer.
    private static let capacity = 64

    /// Bytes given to the socket by then, since the connection began, and how late what came next from the log was.
    private var samples: [(time: MediaTime, sent: UInt64, backlog: MediaTime)] = []
    private(set) var delivered: UInt64 = 0
    private(set) var outstanding = 0
    /// When bytes last left, or none were outstanding.
    private var lastMovement: MediaTime
    /// The shortest round trip: so long bytes are outstanding on a path without a queue.
    private var roundTrip = MediaTime.zero

    init(at now: MediaTime) {
        lastMovement = now
        samples.reserveCapacity(Self.capacity + 1)
    }

    /// Ten times a second or so.
    mutating func note(
        sent: UInt64, outstanding: Int, roundTrip: MediaTime = .zero, backlog: MediaTime = .zero, at now: MediaTime
    ) {
        let delivered = sent - min(sent, UInt64(max(0, outstanding)))
        if delivered > self.delivered || outstanding == 0 { lastMovement = now }
        self.delivered = max(self.delivered, delivered)
        self.outstanding = outstanding
        self.roundTrip = roundTrip
        // One that has arrived stays, to tell when the next bytes were sent.
        while samples.count > 1, samples[1].sent <= self.delivered { samples.removeFirst() }
        if samples.count == Self.capacity { samples.removeLast() }
        samples.append((now, sent, backlog))
    }

    /// How long nothing has left although something was to.
    func stalled(at now: MediaTime) -> MediaTime { outstanding > 0 ? now - lastMovement : .zero }

    /// How long the oldest byte that has not arrived has been on its way, beyond what the path takes anyway.
    func socketLag(at now: MediaTime) -> MediaTime {
        guard let oldest else { return .zero }
        return max(.zero, now - oldest.time - roundTrip)
    }

    /// How late the other side is: by the oldest byte that has not arrived, which was late already when it was sent, or
    /// by what waits in the log. The two wait at the same time, so they do not add up.
    func lateness(behind backlog: MediaTime, at now: MediaTime) -> MediaTime {
        max(backlog, socketLag(at: now) + (oldest?.backlog ?? .zero))
    }

    /// What was sent when the oldest byte was that has not arrived.
    private var oldest: (time: MediaTime, sent: UInt64, backlog: MediaTime)? {
        outstanding > 0 ? samples.first { $0.sent > delivered } : nil
    }
}
