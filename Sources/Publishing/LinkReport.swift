package import MediaCore

/// How the connection to a destination does, measured about ten times a second; for adapting the bitrate.
package struct LinkReport: Equatable, Sendable {
    /// When it was measured (monotonic clock).
    package var time: MediaTime
    /// Packets flow; without, the rest says nothing.
    package var isPublishing = false
    /// How late packets reach the other side: what waits in the log, and what waits in the socket at the rate at which
    /// it leaves.
    package var lag = MediaTime.zero
    /// For how long the server has not acknowledged what it should have: it hangs, or the path swallows. No bitrate
    /// helps against that.
    package var unacknowledged = MediaTime.zero
    /// Bytes that have reached the other side's kernel since the connection began.
    package var deliveredBytes: UInt64 = 0
    /// Bytes given to the socket that have not.
    package var outstandingBytes = 0
    /// Counts connections: figures of different ones do not go together.
    package var connection = 0
    /// Packets were left out because the destination was behind, since its start.
    package var shedPackets = 0

    package init(time: MediaTime) { self.time = time }

    /// How late packets are for those who watch, as far as it can be known.
    package var lateness: MediaTime { max(lag, unacknowledged) }
}
