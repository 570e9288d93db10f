package import MediaCore

/// What the next block of a mixer waits for.
package struct MixerWait: Equatable, Sendable {
    /// The broadcast time at which the block is made, whether or not the sources lack samples.
    package var deadline: MediaTime
    /// The samples that the sources lack for an earlier deadline: zero for a source that has all samples, or that is
    /// not active. All are zero if the deadline cannot become earlier. Nil at the start and while no source is active:
    /// then any PCM may change the deadline.
    package var lacks: AudioDurations?
}
