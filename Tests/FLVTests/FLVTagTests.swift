import FLV
import MediaCore
import Testing

@Suite struct FLVTagTests {
    private func array<let count: Int>(_ bytes: InlineArray<count, UInt8>) -> [UInt8] {
        (0..<count).map { bytes[$0] }
    }

    @Test func videoTagBodies() {
        #expect(FLVVideoTag.sequenceHeader(decoderConfiguration: [1, 2]) == [0x17, 0, 0, 0, 0, 1, 2])
        for (isKeyframe, time, bytes): (Bool, Int32, [UInt8]) in [
            (true, 0, [0x17, 1, 0, 0, 0]), (false, 66, [0x27, 1, 0, 0, 66]), (false, -2, [0x27, 1, 255, 255, 254]),
            (true, .max, [0x17, 1, 0x7f, 255, 255]), (true, .min, [0x17, 1, 0x80, 0, 0]),
        ] {
            #expect(array(FLVVideoTag.header(isKeyframe: isKeyframe, compositionTimeMilliseconds: time)) == bytes)
        }
        #expect(FLVVideoTag.endOfSequence == [0x17, 2, 0, 0, 0])
    }

    @Test func audioTagBodies() {
        #expect(FLVAudioTag.sequenceHeader(audioSpecificConfig: [0x11, 0x90]) == [0xaf, 0, 0x11, 0x90])
        #expect(array(FLVAudioTag.header) == [0xaf, 1])
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
        #expect(FLVTimestamp.compositionTime(pts: .microseconds(66_700), dts: .microseconds(33_300)) == 33)
        #expect(FLVTimestamp.compositionTime(pts: .seconds(5), dts: .seconds(5)) == 0)
        #expect(FLVTimestamp.compositionTime(pts: .zero, dts: .milliseconds(40)) == -40)
    }
}
