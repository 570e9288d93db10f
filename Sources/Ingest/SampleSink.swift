package import IngestProtocol
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

/// Takes the samples of one broadcast. Ingest thread only, one call at a time.
///
/// A thrown `ProtocolError` goes to the client; where it is not fatal, the sample is skipped and the broadcast goes on.
package protocol SampleSink: AnyObject {
    /// A frame is about to arrive. False: its payload is read and discarded (the sink has counted it).
    func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool
    /// A frame came whose secure regions cannot be read. It is refused, and the client is told.
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

    /// Room for the payload of an audio sample, or nil: read and discard (the sink has counted it).
    func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        throws(ProtocolError) -> UnsafeMutableRawBufferPointer?
    func endAudio(arrival: MediaTime)
    func cancelAudio()

    /// Before each wait: does what is due at `now`. Returns when to be called again at the latest; nil where that
    /// depends on something else.
    func attend(at now: MediaTime) -> MediaTime?
}
