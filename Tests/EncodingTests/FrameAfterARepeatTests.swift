import MediaCore
import SeededRandom
import Testing

@testable import Encoding

/// Promise: what appears on a still screen has the same quality, however shortly before it the last repeat came.
@Suite struct FrameAfterARepeatTests {
    /// The bytes of a frame that shows something new, `distance` ms after the last of ten repeats.
    private static func bytes(distance: Int64) throws -> Int {
        let encoder = try VideoEncoder(
            VideoEncoderSettings(
                canvas: CanvasFormat(width: 320, height: 180, frameRate: FrameRate(30)), bitrate: 500_000))
        let recording = PacketRecording()
        let canvas = TestPictures.canvas(of: encoder)
        func encode(_ time: Int64) throws {
            try encoder.encode(
                canvas.planes, pts: .milliseconds(time), forceKeyframe: false, arrival: .zero, into: recording)
        }
        TestPictures.paintScene(0, on: canvas.planes)
        for frame in 0...10 as ClosedRange<Int64> { try encode(frame * 250) }
        var random = SplitMix64(seed: 5)
        TestPictures.paintNoise(&random, on: canvas.planes)
        try encode(2500 + distance)
        try encoder.finish(into: recording)
        return try #require(recording.packets.last).bytes.count
    }

    /// x264 is told how much time has passed, but the repeats before have left it enough bits.
    @Test(arguments: [1, 5, 20]) func theDistanceDoesNotMatter(distance: Int64) throws {
        let (near, usual) = try (Self.bytes(distance: distance), Self.bytes(distance: 33))
        #expect(usual > 5000 && near >= usual * 98 / 100, "\(near) bytes, \(usual) a frame's duration after it")
    }
}
