import FLV
import MediaCore
import Testing

@Suite struct FLVTagTests {
    private func array<let count: Int>(_ bytes: InlineArray<count, UInt8>) -> [UInt8] {
        (0..<count).map { bytes[$0] }
    }

    @Test func videoTagBodies() {
        let tag = FLVVideoTag(.h264)
        #expect(tag.sequenceHeader(decoderConfiguration: [1, 2]) == [0x17, 0, 0, 0, 0, 1, 2])
        for (isKeyframe, time, bytes): (Bool, Int32, [UInt8]) in [
            (true, 0, [0x17, 1, 0, 0, 0]), (false, 66, [0x27, 1, 0, 0, 66]), (false, -2, [0x27, 1, 255, 255, 254]),
            (true, .max, [0x17, 1, 0x7f, 255, 255]), (true, .min, [0x17, 1, 0x80, 0, 0]),
        ] {
            #expect(tag.header(isKeyframe: isKeyframe, compositionTimeMilliseconds: time).array == bytes)
        }
    }

    @Test func anAccessUnitDelimiterWithItsLength() throws {
        for codec in VideoCodec.allCases {
            let tag = FLVVideoTag(codec)
            for isKeyframe in [true, false] {
                let plain = tag.header(isKeyframe: isKeyframe, compositionTimeMilliseconds: 1).array
                let delimited = tag.header(isKeyframe: isKeyframe, compositionTimeMilliseconds: 1, isDelimited: true)
                #expect(delimited.array.starts(with: plain))
                #expect(delimited.count <= FLVVideoTag.longestHeaderBytes)
                let delimiter = Array(delimited.array.dropFirst(plain.count))
                var reader = LengthPrefixedReader(delimiter.span.bytes)
                let unit = try reader.next()
                #expect(unit == NALUnits.lengthBytes..<delimiter.count)
            }
        }
        let keyframe = FLVVideoTag(.h264).header(isKeyframe: true, compositionTimeMilliseconds: 0, isDelimited: true)
        #expect(keyframe.array == [0x17, 1, 0, 0, 0, 0, 0, 0, 2, 9, 0x10])
    }

    @Test func audioTagBodies() {
        #expect(FLVAudioTag.sequenceHeader(audioSpecificConfig: [0x11, 0x90]) == [0xaf, 0, 0x11, 0x90])
        #expect(FLVAudioTag.header.array == [0xaf, 1])
    }

    @Test func fileFraming() {
        #expect(array(FLVFile.header) == Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0])
        #expect(
            array(FLVFile.tagHeader(.video, bodyBytes: 0x010203, timestamp: 0x0405_0607))
                == [9, 1, 2, 3, 5, 6, 7, 4, 0, 0, 0])
        #expect(array(FLVFile.tagHeader(.script, bodyBytes: 0, timestamp: 0)) == [18] + Array(repeating: 0, count: 10))
        #expect(array(FLVFile.previousTagSize(bodyBytes: 0x010203)) == [0, 1, 2, 0x0e])
        #expect(array(FLVFile.previousTagSize(bodyBytes: FLVFile.maximumBodyBytes)) == [1, 0, 0, 10])
    }

    @Test func timestampsRiseAndWrap() {
        var timestamp = FLVTimestamp()
        #expect(timestamp.next(.milliseconds(-21)) == 0)
        #expect(timestamp.next(.zero) == 1)
        #expect(timestamp.next(.microseconds(1_900)) == 2)
        #expect(timestamp.next(.milliseconds(40)) == 40)
        #expect(timestamp.next(.milliseconds(40)) == 41)
        #expect(timestamp.next(.milliseconds(30)) == 42)
        #expect(timestamp.next(.milliseconds(0xffff_ffff)) == 0xffff_ffff)
        #expect(timestamp.next(.milliseconds(0xffff_ffff)) == 0)
        #expect(timestamp.next(.milliseconds(0x1_0000_0021)) == 0x21)
        #expect(FLVTimestamp.milliseconds(.milliseconds(0x1_0000_0021)) == 0x21)
        #expect(FLVTimestamp.milliseconds(.milliseconds(-1)) == 0)
    }

    @Test func compositionTimeIsTheDifferenceOfTheMilliseconds() {
        #expect(FLVTimestamp.compositionTime(pts: .microseconds(66_700), timestamp: 33) == 33)
        #expect(FLVTimestamp.compositionTime(pts: .seconds(5), timestamp: 5000) == 0)
        #expect(FLVTimestamp.compositionTime(pts: .milliseconds(0x1_0000_0021), timestamp: 0) == 0x21)
        #expect(FLVTimestamp.compositionTime(pts: .milliseconds(0x1_0000_0021), timestamp: 0xffff_fff0) == 0x31)
        #expect(FLVTimestamp.compositionTime(pts: .zero, timestamp: 1) == 0)
    }

    /// What libx264 delivers with two B-frames at 30 frames a second: every picture is shown at its own time.
    @Test func picturesAreShownAtTheirTimesWithBFrames() {
        var timestamp = FLVTimestamp()
        let frames: [(dts: Int64, pts: Int64)] = [(-67, 0), (-33, 100), (0, 33), (33, 67), (67, 200), (100, 133)]
        for frame in frames {
            let time = timestamp.next(.milliseconds(frame.dts))
            let composition = FLVTimestamp.compositionTime(pts: .milliseconds(frame.pts), timestamp: time)
            #expect(Int64(time) + Int64(composition) == frame.pts)
        }
    }
}
