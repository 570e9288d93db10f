import FLV
import MediaCore
import Testing

@Suite struct StreamMetadataTests {
    private let format = BroadcastFormat(
        video: VideoTrackFormat(
            codec: .h264, width: 1280, height: 720, frameRate: FrameRate(30_000, 1001), bitrate: 2_500_000,
            decoderConfiguration: [], encoderName: "libx264"),
        audio: AudioTrackFormat(sampleRate: 48_000, channels: 2, bitrate: 128_000, audioSpecificConfig: [0x11, 0x90]))

    @Test func tellsEverythingAServerReads() throws {
        let body = StreamMetadata.body(format, encoder: "upcast", setDataFrame: false)
        let values = try AMF0Reader.values(in: body.span.bytes)
        #expect(values.count == 2)
        #expect(values[0] == .string("onMetaData"))
        let expected: [(String, AMF0Value)] = [
            ("duration", .number(0)), ("fileSize", .number(0)), ("width", .number(1280)), ("height", .number(720)),
            ("videocodecid", .number(7)), ("videodatarate", .number(2500)), ("framerate", .number(30_000 / 1001)),
            ("audiocodecid", .number(10)), ("audiodatarate", .number(128)), ("audiosamplerate", .number(48_000)),
            ("audiosamplesize", .number(16)), ("audiochannels", .number(2)), ("stereo", .boolean(true)),
            ("encoder", .string("upcast")),
        ]
        #expect(values[1] == .ecmaArray(expected.map { AMF0Property($0.0, $0.1) }))
    }

    @Test func setDataFrameStandsBeforeTheSameBody() {
        let plain = StreamMetadata.body(format, encoder: "upcast", setDataFrame: false)
        let forServer = StreamMetadata.body(format, encoder: "upcast", setDataFrame: true)
        #expect(forServer == [2, 0, 13] + Array("@setDataFrame".utf8) + plain)
        #expect(Array(plain.prefix(18)) == [2, 0, 10] + Array("onMetaData".utf8) + [8, 0, 0, 0, 14])
    }

    @Test func theOffsetsPointAtTheNumbers() throws {
        var body = StreamMetadata.body(format, encoder: "upcast", setDataFrame: false)
        for (offset, value) in [(StreamMetadata.durationOffset, 12.5), (StreamMetadata.fileSizeOffset, 65536)] {
            for index in 0..<8 {
                body[offset + index] = UInt8(truncatingIfNeeded: value.bitPattern >> (56 - 8 * index))
            }
        }
        let values = try AMF0Reader.values(in: body.span.bytes)
        #expect(values[1]["duration"] == .number(12.5))
        #expect(values[1]["fileSize"] == .number(65536))
    }

    @Test func monoIsNotStereo() throws {
        var mono = format
        mono.audio.channels = 1
        let values = try AMF0Reader.values(
            in: StreamMetadata.body(mono, encoder: "e", setDataFrame: false).span.bytes)
        #expect(values[1]["stereo"] == .boolean(false))
        #expect(values[1]["audiochannels"] == .number(1))
    }
}
