internal import MediaCore

/// What leaves a socket, from samples of what was given to it and what is outstanding: the rate, and whether anything
/// moves at all. Pure; one connection, one meter.
struct LinkMeter {
    /// The rate is that of the last second or so.
    private static let span = MediaTime.seconds(1)
    private static let capacity = 16

    private var samples: [(time: MediaTime, delivered: UInt64)] = []
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
    mutating func note(sent: UInt64, outstanding: Int, roundTrip: MediaTime = .zero, at now: MediaTime) {
        self.roundTrip = roundTrip
        let delivered = sent - min(sent, UInt64(max(0, outstanding)))
        if delivered > self.delivered || outstanding == 0 { lastMovement = now }
        self.delivered = max(self.delivered, delivered)
        self.outstanding = outstanding
        samples.append((now, self.delivered))
        if samples.count > Self.capacity || (samples.count > 2 && now - samples[1].time > Self.span) {
            samples.removeFirst()
        }
    }

    /// Bytes a second; nil before there is anything to tell it from.
    var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        return Double(last.delivered - first.delivered) / (last.time - first.time).secondsAsDouble
    }

    /// How long nothing has left although something was to.
    func stalled(at now: MediaTime) -> MediaTime { outstanding > 0 ? now - lastMovement : .zero }

    /// How long what is outstanding takes to arrive beyond what the path takes anyway. While nothing moves, at least as
    /// long as that has lasted.
    func socketLag(at now: MediaTime) -> MediaTime {
        guard outstanding > 0 else { return .zero }
        var lag = stalled(at: now)
        if let rate, rate > 1 { lag = max(lag, min(.seconds(60), MediaTime(seconds: Double(outstanding) / rate))) }
        return max(.zero, lag - roundTrip)
    }
}
