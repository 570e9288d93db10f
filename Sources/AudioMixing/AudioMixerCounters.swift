package import MediaCore

/// The counters of one source. Frames are at the mixer's rate unless stated.
package struct AudioSourceCounters: Equatable, Sendable {
    package var blocks = 0
    /// Frames submitted, at the source's own rate.
    package var frames = 0
    /// Blocks refused for their format or size, or by the resampler.
    package var refusedBlocks = 0
    /// Dropped: came after their place had been rendered.
    package var lateFrames = 0
    /// Dropped: further ahead than the ring holds.
    package var earlyFrames = 0
    /// Dropped: before broadcast time zero.
    package var beforeStartFrames = 0
    /// The number of gaps that were filled with silence.
    package var gaps = 0
    package var silenceFrames = 0
    /// The number of overlaps with placed samples, which were dropped.
    package var overlaps = 0
    package var overlapFrames = 0
    package var formatChanges = 0
    /// Rate correction in force: positive stretches, because the source delivers too few samples for its PTS.
    package var driftPartsPerMillion = 0
    /// The maximum distance of an appended block from its PTS.
    package var largestDeviation = MediaTime.zero

    package init() {}
}

/// The counters of a mixer.
package struct AudioMixerCounters: Equatable, Sendable {
    package var app = AudioSourceCounters()
    package var microphone = AudioSourceCounters()
    package var blocks = 0
    /// Blocks in which no source had a sample.
    package var silentBlocks = 0
    /// Frames that the limiter turned down.
    package var limitedFrames = 0
    /// How long the mixer waits for its sources at this moment.
    package var latency = MediaTime.zero

    package init() {}
}
