package import IngestProtocol
package import MediaCore

/// The next part of a video payload that the sink reads.
package struct IngestBand: Equatable, Sendable {
    /// Offset from the payload's first byte. Unrequested bytes before it are skipped.
    package var payloadOffset: Int
    package var byteCount: Int

    package init(payloadOffset: Int, byteCount: Int) {
        self.payloadOffset = payloadOffset
        self.byteCount = byteCount
    }
}

/// Receives the samples of one broadcast. Ingest thread only.
///
/// A thrown `ProtocolError` is sent to the client. If it is not fatal, the sample is skipped and the broadcast
/// continues.
package protocol SampleSink: AnyObject {
    /// Starts a frame. If the sink returns false, it has counted the frame, and the payload is discarded.
    func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool
    /// Reports a frame with invalid secure regions. The frame is refused, and the client receives an error.
    func refusedRegions(_ sentence: String, arrival: MediaTime)
    /// The next band of the current frame; nil if the sink needs no more bytes.
    func nextBand() -> IngestBand?
    /// The buffer for the current band, of at least `byteCount` bytes.
    var bandBuffer: UnsafeMutableRawBufferPointer { get }
    func bandArrived() throws(ProtocolError)
    /// Takes the current band from the client's shared memory, which is read-only and may change at any time. 64 bytes
    /// after the band are also readable. The pointer is valid during the call.
    func bandArrived(at bytes: UnsafeRawPointer) throws(ProtocolError)
    /// Ends the frame after its last byte.
    func endVideo(arrival: MediaTime)
    /// Discards the incomplete frame.
    func cancelVideo()
    /// Repeats the last frame at another time. Throws if the frame is gone or has another format.
    func repeatVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError)

    /// Returns a buffer for an audio payload. If the sink returns nil, it has counted the sample, and the payload is
    /// discarded.
    func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        throws(ProtocolError) -> UnsafeMutableRawBufferPointer?
    func endAudio(arrival: MediaTime)
    func cancelAudio()

    /// Does work that is due at `now`. The ingest thread calls it before each wait. Returns the time of the next call
    /// at the latest, or nil for none.
    func attend(at now: MediaTime) -> MediaTime?
}
