/// How the connection to a destination does, measured about ten times a second; for adapting the bitrate.
package struct LinkReport: Equatable, Sendable {
    /// When it was measured (monotonic clock).
    package var time: MediaTime
    /// Packets flow; without, the rest says nothing.
    package var isPublishing = false
    /// What the bitrate follows: what waits in the log, and for how long the socket has held its oldest byte. While
    /// nothing moves, both grow.
    package var lag = MediaTime.zero
    /// How late the other side is; see `LinkMeter.lateness`.
    package var behind = MediaTime.zero
    /// Since when packets have been so late that the destination is called congested; nil where they are not.
    package var congestedSince: MediaTime?
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
    package var lateness: MediaTime { max(behind, unacknowledged) }
    /// OBS's first threshold is 700 ms of queue, where it already drops.
    package static let congestedLateness = MediaTime.milliseconds(500)
}
