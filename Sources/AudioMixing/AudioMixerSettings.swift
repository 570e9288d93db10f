package import MediaCore

/// The output format of a mixer, and how long it waits for its sources.
package struct AudioMixerSettings: Sendable, Equatable {
    /// Output sample rate in Hz, 8,000 to 192,000.
    package var sampleRate: Int
    /// Output channels, 1 or 2.
    package var channels: Int
    /// Linear, 0 to 16.
    package var appGain: Float
    /// Linear, 0 to 16.
    package var microphoneGain: Float
    /// In dBFS, -40 to 0; the maximum of all output samples.
    package var limiterCeiling: Float
    /// The minimum wait for the sources of an output block, 0 to `maximumLatency`.
    package var minimumLatency: MediaTime
    /// The maximum wait for late blocks, up to 5 s. It determines the size of the rings.
    package var maximumLatency: MediaTime
    /// The expected sources. The first output blocks wait for a burst of each.
    package var expectedSources: Set<AudioSource>
    /// The frames of an output block, 64 to 8,192; 1,024 is one AAC frame.
    package var frameLength: Int

    package init(
        sampleRate: Int = 48_000, channels: Int = 2, appGain: Float = 1, microphoneGain: Float = 1,
        limiterCeiling: Float = -1, minimumLatency: MediaTime = .milliseconds(60),
        maximumLatency: MediaTime = .milliseconds(750), expectedSources: Set<AudioSource> = [], frameLength: Int = 1024
    ) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.appGain = appGain
        self.microphoneGain = microphoneGain
        self.limiterCeiling = limiterCeiling
        self.minimumLatency = minimumLatency
        self.maximumLatency = maximumLatency
        self.expectedSources = expectedSources
        self.frameLength = frameLength
    }

    static let gainRange: ClosedRange<Float> = 0...16
    static let sampleRates = 8_000...192_000

    func check() throws(AudioMixingError) {
        func require(_ holds: Bool, _ otherwise: String) throws(AudioMixingError) {
            if !holds { throw .settings(otherwise) }
        }
        try require(Self.sampleRates.contains(sampleRate), "sample rate \(sampleRate) is not in 8,000-192,000 Hz")
        try require((1...2).contains(channels), "\(channels) output channels; 1 or 2 are possible")
        try require(Self.gainRange.contains(appGain), "app gain \(appGain) is not in 0-16")
        try require(Self.gainRange.contains(microphoneGain), "microphone gain \(microphoneGain) is not in 0-16")
        try require((-40...0).contains(limiterCeiling), "limiter ceiling \(limiterCeiling) is not in -40-0 dBFS")
        try require(maximumLatency <= .seconds(5), "maximum latency \(maximumLatency) is more than 5 s")
        try require(
            minimumLatency >= .zero && minimumLatency <= maximumLatency,
            "minimum latency \(minimumLatency) is not between 0 and the maximum, \(maximumLatency)")
        try require((64...8192).contains(frameLength), "block of \(frameLength) frames; 64-8,192 are possible")
    }
}
