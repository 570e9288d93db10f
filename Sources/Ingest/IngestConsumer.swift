package import IngestProtocol
package import LinuxSystem
package import MediaCore

/// Where the bytes of the next part of a video payload are to be put.
package struct IngestBand: Equatable, Sendable {
    /// From the payload's first byte; bytes before it that were not asked for are skipped.
    package var payloadOffset: Int
    package var byteCount: Int

    package init(payloadOffset: Int, byteCount: Int) {
        self.payloadOffset = payloadOffset
        self.byteCount = byteCount
    }
}

/// Why a broadcast ends, as the ingest side sees it.
package enum BroadcastEnd: Equatable, Sendable {
    /// The client sent `finished`.
    case finished(FinishedMessage)
    /// The connection went away without `finished`.
    case clientVanished
    /// The client broke the protocol; it has been told.
    case protocolError
    /// The daemon is stopping.
    case daemonStopping
    /// An operator ended it.
    case endedByOperator
    /// The broadcast itself failed (encoder, every destination); the sentence says how.
    case failed(String)

    package var hasFailed: Bool { if case .failed = self { true } else { false } }
}

/// The rest of the daemon, as ingest sees it. All calls come from the ingest thread, one at a time, in the order that
/// the protocol guarantees: `started`, then samples, then `ended` exactly once.
///
/// A thrown `ProtocolError` goes to the client; where it is not fatal, the sample is skipped and the broadcast goes on.
package protocol IngestConsumer: AnyObject, Sendable {
    /// A client has introduced itself. What is returned is its welcome; a throw ends the connection.
    func started(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError) -> WelcomeMessage

    /// A frame is about to arrive. False: its payload is read and discarded (the consumer has counted it).
    func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool
    /// A frame came of which nobody can say what it was to hide; it is refused, and the client is told.
    func refusedRegions(_ sentence: String, arrival: MediaTime)
    /// The next band of the frame that was begun; nil when no more bytes of it are wanted.
    func nextBand() -> IngestBand?
    /// Where the current band's bytes go; at least its `byteCount` large.
    var bandBuffer: UnsafeMutableRawBufferPointer { get }
    func bandArrived() throws(ProtocolError)
    /// The current band lies there, in memory of the client's that may change at any time and is not to be written; 64
    /// bytes behind it can be read as well. Valid during the call.
    func bandArrived(at bytes: UnsafeRawPointer) throws(ProtocolError)
    /// The frame's last byte has been read.
    func endVideo(arrival: MediaTime)
    /// The frame will not be completed.
    func cancelVideo()
    /// The frame that ended last is to be shown on, at another time. Throws where it is not there any more or was of
    /// another format.
    func repeatVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError)

    /// Room for the payload of an audio sample, or nil: read and discard (the consumer has counted it).
    func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        throws(ProtocolError) -> UnsafeMutableRawBufferPointer?
    func endAudio(arrival: MediaTime)
    func cancelAudio()

    func paused()
    func resumed()
    func annotated(_ message: AnnotatedMessage)

    /// Before each wait of a live broadcast: does what is due by now. Returns when to be called again at the latest;
    /// nil where that hangs on something else.
    func attend() -> MediaTime?
    /// Whether viewers see a curtain, and because of whom. Asked for after `IngestServer.curtainChanged`.
    func curtainState() -> StateMessage
    /// How often the curtain has been raised, or held up as well, to hide what comes meanwhile; it only rises.
    var curtainObjections: UInt32 { get }

    /// The broadcast is over. Must return at once; when everything has been drained and closed, the consumer calls
    /// `IngestServer.broadcastClosed`.
    func ended(_ reason: BroadcastEnd)
}
