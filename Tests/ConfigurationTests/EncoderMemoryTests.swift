import Testing

@testable import Configuration

@Suite struct EncoderMemoryTests {
    /// KiB of anonymous memory that libx264 (Debian 12) took for 90 frames, by width, height, preset, threads, B-frames,
    /// tune and subq.
    @Test(arguments: [
        (640, 360, "ultrafast", 1, 0, "zerolatency", "", 4324), (1280, 720, "ultrafast", 1, 0, "zerolatency", "", 11852),
        (1920, 1080, "ultrafast", 1, 0, "zerolatency", "", 23072), (640, 360, "veryfast", 1, 0, "zerolatency", "", 6216),
        (960, 540, "veryfast", 1, 0, "zerolatency", "", 11736), (1280, 720, "veryfast", 1, 0, "zerolatency", "", 18408),
        (1920, 1080, "veryfast", 1, 0, "zerolatency", "", 37788), (1280, 720, "superfast", 1, 0, "zerolatency", "", 18452),
        (1280, 720, "veryfast", 1, 0, "zerolatency", "0", 11956), (1920, 1080, "veryfast", 1, 0, "zerolatency", "0", 23508),
        (640, 360, "veryfast", 1, 0, "zerolatency", "0", 4280), (1280, 720, "faster", 1, 0, "zerolatency", "", 23572),
        (1920, 1080, "fast", 1, 0, "zerolatency", "", 49036), (640, 360, "medium", 1, 0, "zerolatency", "", 9704),
        (1280, 720, "medium", 1, 0, "zerolatency", "", 29852), (1920, 1080, "medium", 1, 0, "zerolatency", "", 62828),
        (1280, 720, "medium", 1, 0, "zerolatency", "0", 16952), (1280, 720, "slow", 1, 0, "zerolatency", "", 40184),
        (1280, 720, "slower", 1, 0, "zerolatency", "", 55644), (1280, 720, "veryslow", 1, 0, "zerolatency", "", 96880),
        (1920, 1080, "veryslow", 1, 0, "zerolatency", "0", 89144), (1280, 720, "veryfast", 4, 0, "zerolatency", "", 19388),
        (1920, 1080, "veryfast", 8, 0, "zerolatency", "", 39800), (1280, 720, "veryfast", 1, 1, "zerolatency", "", 27504),
        (1280, 720, "veryfast", 1, 3, "zerolatency", "", 44880), (640, 360, "veryfast", 1, 3, "zerolatency", "", 14300),
        (1280, 720, "ultrafast", 1, 0, "", "", 14704), (1280, 720, "veryfast", 1, 0, "", "", 50204),
        (1920, 1080, "veryfast", 1, 0, "", "", 106_004), (1280, 720, "medium", 1, 0, "", "", 148_452),
        (1280, 720, "veryfast", 4, 0, "", "", 75744), (640, 360, "veryfast", 2, 0, "", "", 18964),
        (1920, 1080, "veryfast", 1, 2, "", "", 147_744),
    ])
    func isNearWhatWasMeasured(
        width: Int, height: Int, preset: String, threads: Int, bFrames: Int, tune: String, subq: String, kibibytes: Int
    ) {
        var video = VideoConfiguration()
        (video.width, video.height, video.preset) = (width, height, preset)
        (video.threads, video.bFrames, video.tune) = (threads, bFrames, tune)
        if !subq.isEmpty { video.encoderOptions = ["subq": subq] }
        let ratio = Double(video.expectedEncoderBytes) / Double(kibibytes * 1024)
        #expect(ratio > 0.98 && ratio < 1.1, "\(ratio)")
    }
}
