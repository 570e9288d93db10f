internal import MediaCore

/// Measures what one RTMP connection carries, and notices a server that hangs. Pure.
struct RTMPLinkWatch {
    private var meter: LinkMeter
    private(set) var acknowledgements: AcknowledgementWatch
    private let sendTimeout: MediaTime
    private let acknowledgementTimeout: MediaTime

    init(_ settings: RTMPDestinationSettings, _ acknowledgements: AcknowledgementWatch, at now: MediaTime) {
        meter = LinkMeter(at: now)
        self.acknowledgements = acknowledgements
        sendTimeout = settings.sendTimeout
        acknowledgementTimeout = settings.acknowledgementTimeout
    }

    /// What the connection's socket shows.
    struct Look {
        var bytesSent: UInt64
        /// Of these, what the server's kernel has not confirmed.
        var outstandingBytes: Int
        /// The path's shortest round trip; zero where it is not known.
        var roundTrip = MediaTime.zero
        /// What the server itself says it has received; nil before its first word.
        var bytesAcknowledged: UInt64?
    }

    /// Media may flow from now on.
    mutating func begin(at now: MediaTime) { meter = LinkMeter(at: now) }

    /// - Throws: where the server has taken or acknowledged nothing for too long.
    mutating func note(_ look: Look, backlog: MediaTime, at now: MediaTime) throws(PublishError) -> LinkMeasurement {
        meter.note(
            sent: look.bytesSent, outstanding: look.outstandingBytes, roundTrip: look.roundTrip, backlog: backlog,
            at: now)
        let stalled = meter.stalled(at: now)
        if stalled >= sendTimeout { throw PublishError(.sendTimeout, "the server took no byte for \(stalled)") }
        let overdue = acknowledgements.note(
            delivered: meter.delivered, acknowledged: look.bytesAcknowledged, at: now)
        if overdue >= acknowledgementTimeout {
            throw PublishError(
                .acknowledgementTimeout,
                "the server takes data but has acknowledged none of it for \(overdue): it hangs")
        }
        return LinkMeasurement(
            lag: backlog + meter.socketLag(at: now), behind: meter.lateness(behind: backlog, at: now),
            unacknowledged: overdue, deliveredBytes: meter.delivered, outstandingBytes: meter.outstanding)
    }
}
