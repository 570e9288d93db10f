import FLV
import MediaCore
import TestSupport
import Testing

/// What ffmpeg's FLV muxer writes is read with the readers of this module, and written again byte for byte.
@Suite(.enabled(if: isFFmpegInstalled, "needs the ffmpeg command"))
struct FFmpegComparisonTests {
    private func tags(size: String, profile: String, audio: String) throws -> [FLVTag] {
        let folder = try TemporaryDirectory("flv")
        try runFFmpeg(
            "-f lavfi -i testsrc2=s=\(size):r=25:d=0.4 -f lavfi -i sine=d=0.4 -pix_fmt yuv420p"
                + " -c:v libx264 -profile:v \(profile) -bf 0 -c:a aac \(audio) \(folder.path)/a.flv")
        return try #require(FLVTag.all(in: folder.bytes(of: "a.flv")))
    }

    @Test(arguments: [
        ("322x242", "high", "-ar 48000 -ac 2", 322, 242, 48_000, 2),
        ("16x16", "baseline", "-ar 44100 -ac 1", 16, 16, 44_100, 1),
        ("720x1280", "main", "-ar 22050 -ac 2", 720, 1280, 22_050, 2),
    ])
    func readsAndRewritesAFile(
        size: String, profile: String, audio: String, width: Int, height: Int, sampleRate: Int, channels: Int
    ) throws {
        let tags = try tags(size: size, profile: profile, audio: audio)
        try #require(tags.count > 3)

        try #require(tags[0].type == .script)
        let script = tags[0].body
        let metadata = try AMF0Reader.values(in: script.span.bytes)
        #expect(metadata.first == .string("onMetaData"))
        #expect(metadata.last?["width"] == .number(Double(width)))
        #expect(metadata.last?["videocodecid"] == .number(7))
        #expect(metadata.last?["audiocodecid"] == .number(10))
        #expect(metadata.last?["stereo"] == .boolean(channels == 2))
        var writer = AMF0Writer()
        for value in metadata { writer.value(value) }
        #expect(writer.bytes == script)

        let videoTags = tags.filter { $0.type == .video }
        let configuration = try AVCDecoderConfiguration(extradata: Array(videoTags[0].body.dropFirst(5)))
        #expect(configuration.parameters.width == width)
        #expect(configuration.parameters.height == height)
        #expect(FLVVideoTag(.h264).sequenceHeader(decoderConfiguration: configuration.record) == videoTags[0].body)
        for tag in videoTags.dropFirst() where tag.body.count > 5 {
            let accessUnit = Array(tag.body.dropFirst(5))
            var reader = LengthPrefixedReader(accessUnit.span.bytes)
            while let unit = try reader.next() { #expect(!unit.isEmpty) }
        }

        let audioTags = tags.filter { $0.type == .audio }
        let configured = try AudioSpecificConfiguration(Array(audioTags[0].body.dropFirst(2)))
        #expect(configured == (try AudioSpecificConfiguration(sampleRate: sampleRate, channels: channels)))
        let ours = FLVAudioTag.sequenceHeader(audioSpecificConfig: configured.bytes)
        // ffmpeg says mono in the tag's first byte where we follow the specification, and adds an SBR extension.
        #expect(Array(audioTags[0].body[1..<ours.count]) == Array(ours.dropFirst()))
    }

    /// AVC sequence headers and access units made from an Annex B stream equal those that ffmpeg's muxer makes.
    @Test func convertsAnnexBAsFFmpegDoes() throws {
        let folder = try TemporaryDirectory("flv")
        try runFFmpeg(
            "-f lavfi -i testsrc2=s=160x96:r=25:d=1 -pix_fmt yuv420p -c:v libx264 -bf 0 \(folder.path)/a.flv")
        try runFFmpeg("-i \(folder.path)/a.flv -c copy -f h264 \(folder.path)/a.h264")
        let stream = try folder.bytes(of: "a.h264")
        let tags = try #require(FLVTag.all(in: folder.bytes(of: "a.flv")))
        let bodies = tags.filter { $0.type == .video && $0.body.count > 5 }.map(\.body)

        let configuration = try AVCDecoderConfiguration(extradata: stream)
        #expect(FLVVideoTag(.h264).sequenceHeader(decoderConfiguration: configuration.record) == bodies[0])
        var converted = [UInt8](
            repeating: 0, count: NALUnits.maximumLengthPrefixedBytes(annexBBytes: stream.count))
        let written = try #require(
            converted.withUnsafeMutableBytes {
                NALUnits.lengthPrefixed(annexB: stream.span.bytes, codec: .h264, into: $0)
            })
        #expect(Array(converted.prefix(written)) == bodies.dropFirst().flatMap { $0.dropFirst(5) })
    }
}
