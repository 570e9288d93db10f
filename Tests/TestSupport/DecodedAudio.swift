import Foundation

/// The decoded audio track of a recording.
package struct DecodedAudio: Sendable {
    package let sampleRate: Int
    /// One array for each channel; full scale is 1.
    package let channels: [[Float]]
    /// Time of the first sample on the container's timeline, in seconds.
    package let start: Double

    /// Decodes the whole track; recordings in tests are seconds long.
    package init(_ path: String) throws {
        guard let audio = try MediaProbe.streams(path).first(where: { $0.codec_type == "audio" }),
            let rate = Int(audio.sample_rate ?? ""), let count = audio.channels
        else { throw TestFailure("\(path) has no audio track") }
        let folder = try TemporaryDirectory("pcm")
        _ = try ChildProcess.run(
            "ffmpeg", ["-nostdin", "-v", "error", "-i", path, "-map", "0:a", "-f", "f32le", folder.file("pcm")])
        let data = FileManager.default.contents(atPath: folder.file("pcm")) ?? Data()
        let interleaved = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        sampleRate = rate
        channels = (0..<count).map { channel in
            stride(from: channel, to: interleaved.count, by: count).map { interleaved[$0] }
        }
        start = try MediaProbe.packets(path).first { $0.track == "audio" }?.pts ?? 0
    }

    package var duration: Double { Double(channels[0].count) / Double(sampleRate) }

    /// Samples of one channel between two times of the container's timeline.
    package func samples(channel: Int, from: Double, to: Double) -> ArraySlice<Float> {
        let all = channels[channel]
        let first = min(max(0, Int((from - start) * Double(sampleRate))), all.count)
        let end = min(max(first, Int((to - start) * Double(sampleRate))), all.count)
        return all[first..<end]
    }
}
