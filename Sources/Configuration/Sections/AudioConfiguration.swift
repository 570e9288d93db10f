package import MediaCore

/// The mix of app and microphone, and its AAC encoder.
package struct AudioConfiguration: Equatable, Sendable {
    /// Hz; 48000 or 44100.
    package var sampleRate = 48_000
    /// 1 or 2.
    package var channels = 2
    /// Bits a second.
    package var bitrate = 128_000
    package var appGainDecibels = 0.0
    package var microphoneGainDecibels = 0.0
    /// Ceiling of the limiter in dBFS.
    package var limiterCeilingDecibels = -1.0
    /// How long the mixer waits for late audio.
    package var minLatency = MediaTime.milliseconds(60)
    /// The most PCM that the mixer holds per track. It drops the oldest samples of a longer burst.
    package var maxLatency = MediaTime.milliseconds(750)

    package init() {}
}
