internal import Buffering
internal import Endpoints
internal import MediaCore

/// Where one attempt of a destination puts its packets: a connection or a file. One thread, used once.
protocol PublishingSink: AnyObject {
    /// What has become of the attempt so far.
    var progress: SinkProgress { get }
    /// What was written and has not reached the other side, for whoever throws it away; from the end of `open` until
    /// `close`. It has no default: a sink that keeps anything back must say how that is discarded, or the curtain could
    /// not take it back.
    var unsent: any UnsentMedia { get }
    /// The other side wants another connection in place of this one, from the next keyframe on.
    var wantsReplacement: Bool { get }

    /// Connects, or creates the file; returns when packets may be written.
    func open() throws(PublishError)
    /// Waits until the other side has taken so much of what was written that a packet is better sent than kept; false
    /// where that is not so by `deadline`.
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool
    /// Writes one packet; the first is a keyframe. The buffer's contents are overwritten.
    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError)
    /// Attends to the other side, without waiting for it.
    func service() throws(PublishError)
    /// Looks at what has reached the other side, about ten times a second; nil for a sink without a link. Throws where
    /// the other side hangs.
    ///
    /// - Parameter backlog: how late what comes next from the log is.
    func measure(backlog: MediaTime) throws(PublishError) -> LinkMeasurement?
    /// Ends in order: unpublishes, or completes the file, until `deadline`. What is open stays open until `close`.
    ///
    /// - Returns: whether the other side has shown that it got everything.
    func finish(until deadline: MediaTime) throws(PublishError) -> Bool
    /// Closes what `open` opened; a file that was not finished is completed as far as it goes. A connection whose peer
    /// has not acknowledged everything is reset: the kernel must send nothing once the descriptor is closed.
    func close()
}

extension PublishingSink {
    var wantsReplacement: Bool { false }
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool { true }
    func measure(backlog: MediaTime) throws(PublishError) -> LinkMeasurement? { nil }
}

struct SinkProgress: Equatable {
    var location: String
    var bytesSent: UInt64 = 0
    /// Of these, what the other side says it has received; nil before its first word.
    var bytesAcknowledged: UInt64?
    var tlsProtocol: String?
}

/// What a sink has measured of its link.
struct LinkMeasurement: Equatable {
    /// How late packets leave: `LinkReport.lag`.
    var lag: MediaTime
    /// How late the other side is.
    var behind: MediaTime
    /// For how long the other side has not acknowledged what it should have.
    var unacknowledged = MediaTime.zero
    /// Bytes that have reached the other side's kernel, and those that have not.
    var deliveredBytes: UInt64
    var outstandingBytes: Int
}
