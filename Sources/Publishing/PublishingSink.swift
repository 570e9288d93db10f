internal import Buffering
internal import Endpoints
internal import MediaCore

/// Where one attempt of a destination puts its packets: an RTMP connection or a file. One thread, used once.
protocol PublishingSink: AnyObject {
    /// Bytes that must be free in front of a payload in the buffer given to `write`.
    var headroom: Int { get }
    /// What has become of the attempt so far.
    var progress: SinkProgress { get }
    /// What was written and has not reached the other side, for whoever throws it away; from the end of `open` until
    /// `close`. It has no default: a sink that keeps anything back must say how that is discarded.
    var unsent: any UnsentMedia { get }
    /// Where the server wants the publisher to connect instead; nil where it has not asked, or must not be followed.
    var redirect: RTMPEndpoint? { get }

    /// Connects, or creates the file; returns when packets may be written.
    func open() throws(PublishError)
    /// Waits until the other side has taken so much of what was written that a packet is better sent than kept; false
    /// where that is not so by `deadline`.
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool
    /// Writes one packet; the first is a keyframe. The buffer's contents are overwritten.
    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError)
    /// Attends to the other side, without waiting for it.
    func service() throws(PublishError)
    /// Ends in order: unpublishes, or completes the file, until `deadline`. What is open stays open until `close`.
    ///
    /// - Returns: whether the other side has shown that it got everything.
    func finish(until deadline: MediaTime) throws(PublishError) -> Bool
    /// Closes what `open` opened; a file that was not finished is completed as far as it goes. A connection whose peer
    /// has not acknowledged everything is reset: the kernel must send nothing once the descriptor is closed.
    func close()
}

extension PublishingSink {
    var redirect: RTMPEndpoint? { nil }
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool { true }
}

struct SinkProgress: Equatable {
    var location: String
    var bytesSent: UInt64 = 0
    /// Of these, what the other side's kernel has not confirmed.
    var outstandingBytes = 0
    /// The path's shortest round trip; zero where it is not known.
    var roundTrip = MediaTime.zero
    var bytesAcknowledged: UInt64?
    var tlsProtocol: String?
}
