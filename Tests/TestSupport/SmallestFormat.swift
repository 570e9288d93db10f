package import MediaCore

extension BroadcastFormat {
    /// A format for tests whose packets are never decoded.
    package static let smallest = BroadcastFormat(
        video: VideoTrackFormat(
            codec: .h264, width: 16, height: 16, frameRate: FrameRate(30), bitrate: 1000,
            decoderConfiguration: [1, 66, 0, 30], encoderName: "none"),
        audio: AudioTrackFormat(sampleRate: 48_000, channels: 2, bitrate: 1000, audioSpecificConfig: [0x11, 0x90]))
}
