import Encoding
import MediaCore
import SeededRandom
import Testing

/// How frames may be spaced: what a client's clock does to keyframes, timestamps and bitrate.
enum Spacing: String, CaseIterable, Sendable {
    /// As the canvas's frame rate says.
    case nominal
    /// A static screen that is kept alive.
    case keepAlive
    case halfRate
    /// A half to one and a half frames.
    case jitter
    /// 20 to 420 ms.
    case irregular
    /// Motion and stillness by turns.
    case mixed

    func next(_ frame: Int, _ random: inout SplitMix64) -> MediaTime {
        let nominal = FrameRate(30).frameDuration
        switch self {
        case .nominal: return nominal
        case .keepAlive: return .milliseconds(200)
        case .halfRate: return nominal * 2
        case .jitter: return MediaTime(nanoseconds: .random(in: 16_000_000...50_000_000, using: &random))
        case .irregular: return MediaTime(nanoseconds: .random(in: 20_000_000...420_000_000, using: &random))
        case .mixed: return frame / 60 % 2 == 0 ? nominal : .milliseconds(200)
        }
    }
}

@Suite struct VideoTimingTests {
    private static func settings(bitrate: Int = 100_000) -> VideoEncoderSettings {
        VideoEncoderSettings(canvas: CanvasFormat(width: 160, height: 96, frameRate: FrameRate(30)), bitrate: bitrate)
    }

    /// Encodes noise until `end`, and returns the frames' times.
    @discardableResult private static func encodeNoise(
        _ encoder: VideoEncoder, _ spacing: Spacing, from start: MediaTime = .zero, until end: MediaTime,
        into recording: PacketRecording
    ) throws -> [MediaTime] {
        let canvas = TestPictures.canvas(of: encoder)
        var random = SplitMix64(seed: 11)
        var times: [MediaTime] = []
        var time = start
        while time < end {
            TestPictures.paintNoise(&random, on: canvas.planes)
            try encoder.encode(canvas.planes, pts: time, forceKeyframe: false, arrival: .zero, into: recording)
            times.append(time)
            time += spacing.next(times.count, &random)
        }
        return times
    }

    @Test(arguments: Spacing.allCases)
    func bitrateTimesAndKeyframesHoldAtAnySpacing(spacing: Spacing) throws {
        let encoder = try VideoEncoder(Self.settings())
        let recording = PacketRecording()
        let end = MediaTime.seconds(24)
        let times = try Self.encodeNoise(encoder, spacing, until: end, into: recording)

        #expect(recording.packets.map(\.info.pts) == times, "times pass to the nanosecond")
        #expect(recording.packets.map(\.info.dts) == times)
        let bitrate = recording.bitrate(.zero..<end)
        #expect((90_000...110_000).contains(bitrate), "\(bitrate) bit/s")

        let keyframes = recording.keyframeTimes
        #expect(keyframes.first == .zero)
        for (one, next) in zip(keyframes, keyframes.dropFirst() + [end]) {
            // The frame nearest behind two seconds, or the one less than half a frame before.
            let inBetween = times.filter { $0 > one && $0 < next }
            #expect(inBetween.allSatisfy { $0 - one < .milliseconds(1_984) })
            if next != end { #expect(next - one >= .milliseconds(1_983)) }
        }
    }

    @Test func aKeyframeComesOnRequestAtOnce() throws {
        let encoder = try VideoEncoder(Self.settings())
        let canvas = TestPictures.canvas(of: encoder)
        let recording = PacketRecording()
        for frame in 0..<90 {
            TestPictures.paintScene(frame, on: canvas.planes)
            let time = MediaTime(sample: Int64(frame), rate: 30)
            try encoder.encode(
                canvas.planes, pts: time, forceKeyframe: frame == 20 || frame == 21, arrival: .zero, into: recording)
        }
        let frames = recording.packets.indices.filter { recording.packets[$0].info.isKeyframe }
        #expect(frames == [0, 20, 21, 81], "and the schedule goes on from the last")
    }

    @Test func aNewBitrateTakesEffectOnTheRunningEncoder() throws {
        let encoder = try VideoEncoder(Self.settings(bitrate: 120_000))
        let recording = PacketRecording()
        for (index, bitrate) in [120_000, 50_000, 200_000].enumerated() {
            let start = MediaTime.seconds(Int64(index) * 10)
            try encoder.setBitrate(bitrate)
            try Self.encodeNoise(encoder, .nominal, from: start, until: start + .seconds(10), into: recording)
            // Two seconds to settle: what is in the VBV is spent first.
            let measured = recording.bitrate((start + .seconds(2))..<(start + .seconds(10)))
            #expect(abs(measured / Double(bitrate) - 1) < 0.1, "\(measured) bit/s of \(bitrate)")
        }
        #expect(recording.packets.count == 903, "no new session")
        #expect(throws: EncodingError.self) { try encoder.setBitrate(9_999) }
    }

    /// In no window of a second do more bits come than the bitrate and the VBV allow.
    @Test func theVBVBoundsEverySecond() throws {
        var settings = Self.settings()
        settings.vbvMilliseconds = 500
        let encoder = try VideoEncoder(settings)
        let recording = PacketRecording()
        try Self.encodeNoise(encoder, .mixed, until: .seconds(20), into: recording)
        for start in stride(from: Int64(0), to: 19_000, by: 100) {
            let bitrate = recording.bitrate(.milliseconds(start)..<(.milliseconds(start) + .seconds(1)))
            #expect(bitrate < 100_000 * 1.5 * 1.05, "second from \(start) ms")
        }
    }

    @Test func timeMustRise() throws {
        let encoder = try VideoEncoder(Self.settings())
        let canvas = TestPictures.canvas(of: encoder)
        let recording = PacketRecording()
        try encoder.encode(canvas.planes, pts: .seconds(1), forceKeyframe: false, arrival: .zero, into: recording)
        #expect(throws: EncodingError.timeDidNotRise(.seconds(1), after: .seconds(1))) {
            try encoder.encode(canvas.planes, pts: .seconds(1), forceKeyframe: false, arrival: .zero, into: recording)
        }
        let later = MediaTime(nanoseconds: 1_000_000_001)
        try encoder.encode(canvas.planes, pts: later, forceKeyframe: false, arrival: .zero, into: recording)
        #expect(recording.packets.count == 2)
    }
}
