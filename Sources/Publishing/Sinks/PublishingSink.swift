internal import Buffering
internal import Endpoints
internal import MediaCore

/// The target of one attempt's packets: a connection or a file. One thread, used once.
protocol PublishingSink: AnyObject {
    var progress: SinkProgress { get }
    /// The bytes that were written and have not reached the other side. Valid from the end of `open` until `close`.
    /// There is no default: a sink that holds bytes back must say how to discard them, or the curtain could not take
    /// them back.
    var unsent: any UnsentMedia { get }
    /// Whether the other side wants another connection in place of this one, from the next keyframe on.
    var wantsReplacement: Bool { get }

    /// Connects or creates the file. Packets may be written when it returns.
    func open() throws(PublishError)
    /// Waits until the other side has taken enough bytes that the next packet would leave soon. Returns false after
    /// `deadline`.
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool
    /// Writes one packet and overwrites the buffer's contents. The first packet is a keyframe.
    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError)
    /// Reads and answers what the other side sends, without waiting for it.
    func service() throws(PublishError)
    /// Measures what has reached the other side, about ten times a second; nil for a sink without a link. Throws if the
    /// other side hangs.
    ///
    /// - Parameter backlog: the lag of the next packet in the log.
    func measure(backlog: MediaTime) throws(PublishError) -> LinkMeasurement?
    /// Leaves out a time in which the daemon did not run (stopped, swapped out) and did not see what the other side
    /// did.
    func forgive(_ lost: MediaTime)
    /// Unpublishes or completes the file, until `deadline`. The descriptor stays open until `close`.
    ///
    /// - Parameter isCut: to be called about every 10 ms while bytes are on their way; true if the curtain has
    ///   discarded them.
    /// - Returns: why the other side may not have everything; nil if it has confirmed that.
    func finish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError?
    /// Closes the connection or file, and completes a file as far as possible. Resets a connection whose peer has not
    /// acknowledged everything: the kernel must send nothing after the descriptor is closed.
    func close()
}

extension PublishingSink {
    var wantsReplacement: Bool { false }
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool { true }
    func measure(backlog: MediaTime) throws(PublishError) -> LinkMeasurement? { nil }
    func forgive(_ lost: MediaTime) {}
}

struct SinkProgress: Equatable {
    var location: String
    var bytesSent: UInt64 = 0
    /// The part of `bytesSent` that the other side has acknowledged; nil before the first acknowledgement.
    var bytesAcknowledged: UInt64?
    var tlsProtocol: String?
}

struct LinkMeasurement: Equatable {
    /// How late packets leave: `LinkReport.lag`.
    var lag: MediaTime
    /// How late the other side is.
    var behind: MediaTime
    /// How long an acknowledgement has been overdue.
    var unacknowledged = MediaTime.zero
    /// Bytes that have reached the other side's kernel, and bytes that have not.
    var deliveredBytes: UInt64
    var outstandingBytes: Int
}
