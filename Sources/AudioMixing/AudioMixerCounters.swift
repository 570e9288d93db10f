package import MediaCore

/// The counters of one source. Frames are at the mixer's rate unless stated.
package struct AudioSourceCounters: Equatable, Sendable {
    package var blocks = 0
    /// Frames submitted, at the source's own rate.
    package var frames = 0
    /// Blocks refused for their format or size, or by the resampler.
    package var refusedBlocks = 0
    /// Dropped because their place had been rendered.
    package var lateFrames = 0
    /// Dropped because they were further ahead than the ring holds.
    package var earlyFrames = 0
    /// Dropped because they were before broadcast time zero.
    package var beforeStartFrames = 0
    /// The number of gaps that were filled with silence.
    package var gaps = 0
    package var silenceFrames = 0
    /// The number of overlaps with placed samples, which were dropped.
    package var overlaps = 0
    package var overlapFrames = 0
    package var formatChanges = 0
    /// The current rate correction. Positive values stretch, because the source delivers too few samples for its PTS.
    package var driftPartsPerMillion = 0
    /// The maximum distance of an appended block from its PTS.
    package var largestDeviation = MediaTime.zero
    package var level = SoundLevel()

    package init() {}
}

/// The counters of a mixer.
package struct AudioMixerCounters: Equatable, Sendable {
    package var app = AudioSourceCounters()
    package var microphone = AudioSourceCounters()
    package var blocks = 0
    /// Blocks without samples from any source.
    package var silentBlocks = 0
    /// Frames that the limiter attenuated.
    package var limitedFrames = 0
    /// The current wait for the sources.
    package var latency = MediaTime.zero

    package init() {}
}
