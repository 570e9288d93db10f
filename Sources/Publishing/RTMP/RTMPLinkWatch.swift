internal import MediaCore

/// Measures the throughput of one RTMP connection, and detects a server that hangs. Pure.
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

    /// One sample of the socket's state.
    struct Look {
        var bytesSent: UInt64
        /// The part of `bytesSent` that the server's kernel has not confirmed.
        var outstandingBytes: Int
        /// The path's shortest round trip; zero if unknown.
        var roundTrip = MediaTime.zero
        /// Bytes that the server has acknowledged; nil before its first acknowledgement.
        var bytesAcknowledged: UInt64?
    }

    /// Restarts the measurement when media may flow.
    mutating func begin(at now: MediaTime) { meter = LinkMeter(at: now) }

    /// Leaves out `lost`, a time in which nothing was sent or measured. It is not the server's fault.
    mutating func forgive(_ lost: MediaTime) {
        meter.forgive(lost)
        acknowledgements.forgive(lost)
    }

    /// - Throws: if the server has taken or acknowledged nothing for too long.
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
