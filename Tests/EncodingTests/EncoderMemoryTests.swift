import Encoding
import MediaCore
import Testing

@Suite struct EncoderMemoryTests {
    /// What was measured, in kB: growth of RssAnon, huge pages disabled, 30 fps, 2.5 Mbit/s.
    @Test(arguments: [
        (640, 360, "veryfast", false, 4_972), (640, 360, "veryfast", true, 6_836), (640, 360, "medium", true, 10_272),
        (1280, 720, "veryfast", false, 13_572), (1280, 720, "veryfast", true, 19_952),
        (1280, 720, "ultrafast", true, 13_452), (1280, 720, "faster", false, 15_520),
        (1280, 720, "faster", true, 25_168), (1280, 720, "medium", false, 18_568), (1280, 720, "medium", true, 31_444),
        (720, 1280, "veryfast", false, 14_080), (720, 1280, "veryfast", true, 20_576),
        (886, 1918, "veryfast", false, 23_812), (886, 1918, "veryfast", true, 36_128),
        (1920, 1080, "veryfast", false, 26_512), (1920, 1080, "veryfast", true, 40_776),
        (1920, 1080, "faster", true, 52_132), (1920, 1080, "medium", false, 37_244),
    ])
    func theEstimateIsNearWhatWasMeasured(width: Int, height: Int, preset: String, subpixel: Bool, measured: Int) {
        let canvas = CanvasFormat(width: width, height: height, frameRate: FrameRate(30))
        var settings = VideoEncoderSettings(canvas: canvas, bitrate: 2_500_000)
        settings.preset = preset
        settings.subpixelMotion = subpixel
        let ratio = Double(VideoEncoder.estimatedBytes(settings)) / Double(measured * 1024)
        #expect(abs(ratio - 1) < 0.06)
    }

    @Test func whatDelaysAlsoCosts() {
        let canvas = CanvasFormat(width: 1280, height: 720, frameRate: FrameRate(30))
        let settings = VideoEncoderSettings(canvas: canvas, bitrate: 2_500_000)
        let usual = VideoEncoder.estimatedBytes(settings)
        for change: (inout VideoEncoderSettings) -> Void in [
            { $0.threads = 4 }, { $0.bFrames = 1 }, { $0.tune = "" }, { $0.chromaLayout = .nv12 },
        ] {
            var changed = settings
            change(&changed)
            #expect(VideoEncoder.estimatedBytes(changed) > usual + 1_000_000)
        }
    }
}
