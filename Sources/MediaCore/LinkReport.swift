/// The state of the connection to a destination, measured about ten times a second; used to adapt the bitrate.
package struct LinkReport: Equatable, Sendable {
    /// When the measurement was made (monotonic clock).
    package var time: MediaTime
    /// Whether packets flow. Without them, the other figures have no meaning.
    package var isPublishing = false
    /// The lag that the bitrate follows: the backlog in the log, plus the time for which the socket has held its oldest
    /// byte. Both grow while nothing moves.
    package var lag = MediaTime.zero
    /// How late the other side is; see `LinkMeter.lateness`.
    package var behind = MediaTime.zero
    /// Since when packets have been so late that the destination counts as congested; nil if they are not.
    package var congestedSince: MediaTime?
    /// How long an acknowledgement has been overdue: the server hangs, or the path loses bytes. No bitrate helps
    /// against that.
    package var unacknowledged = MediaTime.zero
    /// Bytes that have reached the other side's kernel since the connection began.
    package var deliveredBytes: UInt64 = 0
    /// Bytes given to the socket that have not reached the other side's kernel.
    package var outstandingBytes = 0
    /// The number of the destination in its broadcast. Another one may have its name later.
    package var destination = 0
    /// The number of the connection. Figures of different connections cannot be compared.
    package var connection = 0
    /// Packets that were shed since the destination's start because it was behind.
    package var shedPackets = 0
    /// When `shedPackets` grew last (monotonic clock); nil before the first.
    package var shedAt: MediaTime?

    package init(time: MediaTime) { self.time = time }

    /// How late packets are for viewers, as far as known.
    package var lateness: MediaTime { max(behind, unacknowledged) }
    /// Packets that are later than this count as congested. OBS drops frames from a queue of 700 ms on.
    package static let congestedLateness = MediaTime.milliseconds(500)
}
