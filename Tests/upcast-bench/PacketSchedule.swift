internal import MediaCore

/// The packets of a usual broadcast, for ever: 30 frames a second of 14 kB on average, every sixtieth a keyframe of
/// 90 kB, and 43 of audio with 370 bytes.
struct PacketSchedule {
    static let videoBytes = 12_710
    static let keyframeBytes = 90_000
    static let audioBytes = 370
    /// Of both tracks, in about a second.
    static let packetsPerSecond = 73

    private var frame: Int64 = 0
    private var block: Int64 = 0

    /// The next one to be decoded.
    mutating func next() -> (info: PacketInfo, byteCount: Int) {
        let video = MediaTime(sample: frame, rate: 30)
        let audio = MediaTime(sample: block * 1024, rate: 44_100)
        guard video <= audio else {
            block += 1
            return (PacketInfo(track: .audio, pts: audio, dts: audio, priority: .audio), Self.audioBytes)
        }
        let isKeyframe = frame % 60 == 0
        frame += 1
        return (
            PacketInfo(track: .video, pts: video, dts: video, priority: isKeyframe ? .keyframe : .reference),
            isKeyframe ? Self.keyframeBytes : Self.videoBytes
        )
    }
}
