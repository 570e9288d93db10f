import Encoding
import FLV
import Foundation
import MediaCore
import TestSupport
import Testing

@Suite struct AudioEncoderTests {
    /// Feeds planar samples in blocks of the given sizes, over and over, and finishes.
    private static func encode(
        _ planes: [[Float]], _ encoder: AudioEncoder, blocks: [Int] = [1024], start: MediaTime = .zero,
        into recording: PacketRecording
    ) throws {
        var (position, block) = (0, 0)
        while position < planes[0].count {
            let count = min(blocks[block % blocks.count], planes[0].count - position)
            let time = start + MediaTime(sample: Int64(position), rate: encoder.format.sampleRate)
            try withPointers(planes) { pointers in
                let moved = pointers.map { $0 + position }
                try moved.withUnsafeBufferPointer {
                    try encoder.encode(channels: $0.baseAddress!, frames: count, time: time, into: recording)
                }
            }
            position += count
            block += 1
        }
        try encoder.finish(into: recording)
    }

    private static func withPointers(_ planes: [[Float]], _ body: ([UnsafePointer<Float>]) throws -> Void) rethrows {
        try planes[0].withUnsafeBufferPointer { first in
            guard planes.count > 1 else { return try body([first.baseAddress!]) }
            try planes[1].withUnsafeBufferPointer { try body([first.baseAddress!, $0.baseAddress!]) }
        }
    }

    private static func sine(_ frequency: Double, _ level: Float, rate: Int, count: Int) -> [Float] {
        (0..<count).map { level * Float(sin(2 * .pi * frequency * Double($0) / Double(rate))) }
    }

    /// The amplitude of one frequency (Goertzel's sum, directly).
    private static func amplitude(of frequency: Double, in samples: ArraySlice<Float>, rate: Int) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let angle = 2 * .pi * frequency * Double(index) / Double(rate)
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
    }

    private static func decoded(_ recording: PacketRecording, _ format: AudioTrackFormat) throws -> [[Float]] {
        let bytes = try MediaFile(recording.flv(audio: format)).decoded("-f f32le")
        let samples = bytes.withUnsafeBytes { raw in
            (0..<(bytes.count / 4)).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
        }
        return (0..<format.channels).map { channel in
            stride(from: channel, to: samples.count, by: format.channels).map { samples[$0] }
        }
    }

    @Test(
        .enabled(if: isFFmpegInstalled, "needs the ffmpeg command"),
        arguments: [(48_000, [1024]), (44_100, [480, 1, 4096])] as [(Int, [Int])])
    func tonesKeepPitchLevelAndChannel(rate: Int, blocks: [Int]) throws {
        let encoder = try AudioEncoder(AudioEncoderSettings(sampleRate: rate))
        let recording = PacketRecording()
        let planes = [Self.sine(440, 0.5, rate: rate, count: rate), Self.sine(1000, 0.25, rate: rate, count: rate)]
        try Self.encode(planes, encoder, blocks: blocks, into: recording)
        let channels = try Self.decoded(recording, encoder.format)
        let middle = (rate / 4)..<(rate / 4 + rate / 2)
        #expect(abs(Self.amplitude(of: 440, in: channels[0][middle], rate: rate) - 0.5) < 0.015)
        #expect(abs(Self.amplitude(of: 1000, in: channels[1][middle], rate: rate) - 0.25) < 0.01)
        #expect(Self.amplitude(of: 1000, in: channels[0][middle], rate: rate) < 0.01)
        #expect(Self.amplitude(of: 440, in: channels[1][middle], rate: rate) < 0.01)
    }

    /// A player that plays each packet at its time plays each sample at the time it was given for.
    @Test(.enabled(if: isFFmpegInstalled, "needs the ffmpeg command"))
    func whatIsHeardAtATimeIsWhatWasGivenForIt() throws {
        let rate = 48_000
        let encoder = try AudioEncoder(AudioEncoderSettings(channels: 1, bitrate: 96_000))
        let recording = PacketRecording()
        // A burst of three tones under a bell, so that only one shift fits.
        let burst = (0..<2400).map { index in
            let bell = 0.5 - 0.5 * cos(2 * .pi * Double(index) / 2400)
            let time = Double(index) / Double(rate)
            return Float(bell * [311.0, 487, 823].reduce(0) { $0 + 0.25 * sin(2 * .pi * $1 * time) })
        }
        var plane = [Float](repeating: 0, count: rate)
        let onset = 20_000
        plane.replaceSubrange(onset..<(onset + burst.count), with: burst)
        let start = MediaTime.milliseconds(1_500)
        try Self.encode([plane], encoder, start: start, into: recording)

        #expect(recording.packets.first?.info.pts == start)
        let samples = try Self.decoded(recording, encoder.format)[0]
        try #require(samples.count >= plane.count)
        let correlations = (-1200...1200).map { shift in
            (shift, zip(burst, samples[(onset + shift)...]).reduce(Float(0)) { $0 + $1.0 * $1.1 })
        }
        let match = correlations.max { $0.1 < $1.1 }?.0
        #expect(match == 0)
    }

    @Test func packetsFollowTheSampleClockAndEndWithTheSamples() throws {
        let encoder = try AudioEncoder(AudioEncoderSettings())
        #expect(encoder.frameLength == 1024)
        let recording = PacketRecording()
        let silence = [[Float]](repeating: [Float](repeating: 0, count: 10_000), count: 2)
        try Self.encode(silence, encoder, blocks: [700], start: .seconds(3), into: recording)
        // 10,000 samples begin in ten packets; the run-up before them is not written.
        let times = (0..<10).map { MediaTime.seconds(3) + MediaTime(sample: $0 * 1024, rate: 48_000) }
        #expect(recording.packets.count == 10)
        for (packet, time) in zip(recording.packets, times) {
            #expect(packet.info.track == .audio)
            #expect(packet.info.priority == .audio)
            #expect(packet.info.dts == packet.info.pts)
            #expect((packet.info.pts - time).magnitude <= MediaTime(nanoseconds: 2))
        }
        try encoder.finish(into: recording)
        #expect(recording.packets.count == 10)
        #expect(throws: EncodingError.finished(encoder: "aac")) {
            try Self.encode(silence, encoder, into: recording)
        }
    }

    /// A mixer that corrects its clock moves the packets with it; one that goes back does not make time go back.
    @Test func packetTimesFollowTheCaller() throws {
        let encoder = try AudioEncoder(AudioEncoderSettings(channels: 1, bitrate: 64_000))
        let recording = PacketRecording()
        let block = [Float](repeating: 0, count: 1024)
        let times: [MediaTime] = [.zero, .milliseconds(21), .milliseconds(80), .milliseconds(60), .milliseconds(120)]
        for time in times {
            try Self.withPointers([block]) { pointers in
                try pointers.withUnsafeBufferPointer {
                    try encoder.encode(channels: $0.baseAddress!, frames: 1024, time: time, into: recording)
                }
            }
        }
        try encoder.finish(into: recording)
        let written = recording.packets.map(\.info.pts)
        #expect(written.count == 5)
        #expect(written.prefix(3) == times.prefix(3))
        #expect(written[3] == MediaTime(nanoseconds: 80_000_001))
        #expect(written[4] == times[4])
    }

    /// Blocks of silence are left out of the encoder, and nobody hears it: there are as many packets at the same times,
    /// nothing but zeros in the silence, and sound that comes back is as near to what it was as without them.
    @Test(.enabled(if: isFFmpegInstalled, "needs the ffmpeg command"), arguments: [1, 2])
    func silenceIsNotEncodedAgainAndAgain(channels: Int) throws {
        let rate = 48_000
        // Sound to 0.5 s and from 2 s on, which begins at once and in the middle of a block, and again after a gap that
        // is too short to be left out.
        func plane(_ floor: Float) -> [Float] {
            let tone = Self.sine(440, 0.5, rate: rate, count: 3 * rate)
            return tone.indices.map { index in
                let isSound = index < rate / 2 || index >= 2 * rate && !(130_000..<134_000).contains(index)
                return isSound ? tone[index] : index % 2 == 0 ? floor : -floor
            }
        }
        func run(_ planes: [[Float]]) throws -> (PacketRecording, [Float], Int) {
            let encoder = try AudioEncoder(AudioEncoderSettings(channels: channels, bitrate: 64_000 * channels))
            let recording = PacketRecording()
            try Self.encode(planes, encoder, into: recording)
            return (recording, try Self.decoded(recording, encoder.format)[channels - 1], encoder.blocksLeftOut)
        }
        let source = plane(0)
        let (recording, samples, leftOut) = try run(Array(repeating: source, count: channels))
        // Too quiet to be heard, and too loud to be left out.
        let (reference, expected, none) = try run(Array(repeating: plane(1e-9), count: channels))
        #expect(leftOut > 50 && none == 0)
        #expect(recording.packets.map(\.info.pts) == reference.packets.map(\.info.pts))
        try #require(samples.count >= source.count && expected.count >= source.count)
        func noise(_ samples: [Float], _ range: Range<Int>) -> Double {
            let sum = range.reduce(0.0) { $0 + pow(Double(samples[$1] - source[$1]), 2) }
            return (sum / Double(range.count)).squareRoot()
        }
        #expect(samples[(rate / 2 + 3000)..<(2 * rate - 2048)].allSatisfy { $0 == 0 })
        for begin in [2 * rate, 134_000] {
            // The step itself, and what is heard of it before; then the tone.
            for range in [begin - 1024..<begin, begin..<begin + 2048, begin + 4096..<begin + 8192] {
                let (ours, theirs) = (noise(samples, range), noise(expected, range))
                #expect(ours <= max(theirs * 1.5, 0.005), "\(ours) instead of \(theirs) at \(range)")
            }
        }
        #expect(samples.allSatisfy { abs($0) < 0.8 }, "no click")
    }

    /// Packets of silence have the times and the epochs of their blocks, and take-backs hold for them.
    @Test func silenceKeepsTimesAndEpochs() throws {
        let encoder = try AudioEncoder(AudioEncoderSettings(channels: 1, bitrate: 64_000))
        let recording = PacketRecording()
        let block = [Float](repeating: -0.0, count: 1024)
        func encode(_ number: Int64, epoch: CurtainEpoch) throws {
            try Self.withPointers([block]) { pointers in
                try pointers.withUnsafeBufferPointer {
                    try encoder.encode(
                        channels: $0.baseAddress!, frames: 1024, time: .milliseconds(30 * number), epoch: epoch,
                        into: recording)
                }
            }
        }
        for number in 0..<40 { try encode(Int64(number), epoch: 0) }
        encoder.goBack(to: .milliseconds(30 * 30), epoch: 1)
        let before = recording.packets.count
        for number in 31..<60 { try encode(Int64(number), epoch: 1) }
        try encoder.finish(into: recording)
        #expect(encoder.blocksLeftOut > 40)
        let (old, new) = (recording.packets.prefix(before), recording.packets.dropFirst(before))
        #expect(old.map(\.info.pts) == (0..<Int64(before)).map { .milliseconds(30 * $0) })
        #expect(old.allSatisfy { $0.info.epoch == 0 })
        #expect(new.map(\.info.pts) == (31..<60).map { .milliseconds(30 * $0) })
        #expect(new.allSatisfy { $0.info.epoch == 1 })
    }

    @Test func samplesThatAreNoNumbersAreSilence() throws {
        let encoder = try AudioEncoder(AudioEncoderSettings(channels: 1, bitrate: 64_000))
        let recording = PacketRecording()
        let bad = (0..<4096).map { [Float.nan, .infinity, -.infinity, 0.1][$0 % 4] }
        try Self.encode([bad], encoder, into: recording)
        #expect(recording.packets.count == 4)
    }

    @Test(arguments: [(48_000, 2), (44_100, 1), (8_000, 1), (96_000, 2)])
    func theFormatAnnouncesRateAndChannels(rate: Int, channels: Int) throws {
        let encoder = try AudioEncoder(AudioEncoderSettings(sampleRate: rate, channels: channels, bitrate: 48_000))
        let configuration = try AudioSpecificConfiguration(encoder.format.audioSpecificConfig)
        #expect(configuration.sampleRate == rate)
        #expect(configuration.channels == channels)
        #expect(encoder.format.bitrate == 48_000)
    }

    @Test func refusesWithTheReasonAndTheWayOut() throws {
        func error(_ change: (inout AudioEncoderSettings) -> Void) -> EncodingError? {
            var settings = AudioEncoderSettings()
            change(&settings)
            return #expect(throws: EncodingError.self) { _ = try AudioEncoder(settings) }
        }
        let unknown = try #require(error { $0.encoder = "nosuch" })
        #expect(unknown.description.hasPrefix("encoder nosuch is not in this libavcodec; it has aac"))
        let video = try #require(error { $0.encoder = "libx264" })
        #expect(video.description.hasPrefix("encoder libx264 does not make AAC"))
        guard case .failed("aac", "opening", _, _) = error({ $0.sampleRate = 47_999 }) else {
            Issue.record("a rate that AAC does not have was taken")
            return
        }
        for change: (inout AudioEncoderSettings) -> Void in [
            { $0.channels = 3 }, { $0.bitrate = 1 }, { $0.sampleRate = 192_000 },
        ] {
            guard case .invalidSetting = error(change) else {
                Issue.record("an impossible setting was taken")
                return
            }
        }
    }
}
