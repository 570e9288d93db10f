package import MediaCore

/// The tracks of a broadcast.
package enum SampleTrack: Sendable { case video, appAudio, microphone }

/// A sample of an input with several tracks.
package struct TimedSample: Equatable, Sendable {
    package var track: SampleTrack
    /// On the clock of the input.
    package var time: MediaTime
    /// Zero for pictures, which have no duration.
    package var duration: MediaTime
    /// Whether the input has begun again, so that this sample follows all samples before it.
    package var isRestart: Bool
    /// How long the packet lasts before this part of it. The input has all parts at once, and what follows them may be
    /// due earlier than the last ones.
    package var lead: MediaTime

    package init(
        track: SampleTrack, time: MediaTime, duration: MediaTime, isRestart: Bool, lead: MediaTime = .zero
    ) {
        self.track = track
        self.time = time
        self.duration = duration
        self.isRestart = isRestart
        self.lead = lead
    }
}

/// An input with the samples of several tracks and their times, in the order in which they are due; used by one thread.
package protocol TimedInput: AnyObject {
    var video: VideoSampleFormat? { get }
    var appAudio: AudioFormat? { get }
    var microphone: AudioFormat? { get }
    /// The block of PCM that `advance` has read. The next call reuses the storage.
    var samples: [UInt8] { get }
    /// How many bytes of an incomplete frame at the end were left out; 0 if the input ends between two samples of an
    /// incomplete packet of audio. Nil if nothing is missing.
    var cutShortBytes: Int? { get }
    /// Reads the next sample. Returns nil at the end.
    ///
    /// - Parameter memory: returns the memory for a picture; called only for pictures.
    func advance(into memory: VideoSource.Memory) throws -> TimedSample?
}
