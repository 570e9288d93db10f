import MediaCore
import Testing

@Suite struct FormatTests {
    @Test(arguments: PixelFormat.allCases)
    func fourCCRoundTrips(format: PixelFormat) {
        #expect(PixelFormat(fourCC: format.fourCC) == format)
    }

    @Test func unknownFourCC() {
        #expect(PixelFormat(fourCC: FourCC("ABCD")) == nil)
        #expect(FourCC(rawValue: 0x0102_0304).description == "0x1020304")
    }

    @Test(arguments: [
        (PixelFormat.nv12VideoRange, 17, 17, 17 * 17 + 18 * 9),
        (.i420, 17, 17, 17 * 17 + 2 * 9 * 9), (.i422, 17, 16, 17 * 16 + 2 * 9 * 16), (.i444, 17, 3, 3 * 17 * 3),
        (.nv16FullRange, 17, 3, 17 * 3 + 18 * 3), (.p210VideoRange, 17, 3, 2 * (17 * 3 + 18 * 3)),
        (.yv12, 17, 17, 17 * 17 + 2 * 9 * 9), (.abgr, 5, 4, 80),
        (.p010, 16, 16, 2 * (256 + 128)), (.yuy2, 17, 2, 36 * 2), (.bgra, 5, 4, 80), (.gray, 5, 4, 20),
    ])
    func packedSizes(format: PixelFormat, width: Int, height: Int, bytes: Int) {
        #expect(VideoSampleFormat(packed: format, width: width, height: height).minimumPayloadBytes == bytes)
    }

    @Test(arguments: [8_000, 11_025, 44_100, 48_000, 192_000])
    func sampleIndexRoundTrips(rate: Int) {
        for index: Int64 in [0, 1, 1023, 1024, Int64(rate) * 3600 * 24 + 7] {
            #expect(MediaTime(sample: index, rate: rate).sampleIndex(rate: rate) == index)
        }
    }

    @Test func timeDescribesItself() {
        #expect(MediaTime(nanoseconds: -1_234_567_890).description == "-1.234 s")
        #expect(MediaTime(nanoseconds: -1).milliseconds == -1)
        #expect(MediaTime.milliseconds(12).milliseconds == 12)
    }
}
