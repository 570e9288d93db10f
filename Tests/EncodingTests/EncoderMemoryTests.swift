import Encoding
import MediaCore
import Testing

@Suite struct EncoderMemoryTests {
    /// What was measured, in KiB: growth of RssAnon, huge pages disabled, 30 frames/s, 2.5 Mbit/s.
    @Test(arguments: [
        (640, 360, "veryfast", false, 4_820), (640, 360, "veryfast", true, 6_728),
        (1280, 720, "veryfast", false, 12_260), (1280, 720, "veryfast", true, 18_672),
        (1280, 720, "ultrafast", true, 12_176), (1280, 720, "faster", false, 14_124),
        (1280, 720, "faster", true, 23_792), (1280, 720, "medium", false, 17_144), (1280, 720, "medium", true, 30_184),
        (720, 1280, "veryfast", false, 12_764), (720, 1280, "veryfast", true, 19_264),
        (886, 1918, "veryfast", false, 21_460), (886, 1918, "veryfast", true, 34_024),
        (1920, 1080, "veryfast", false, 24_084), (1920, 1080, "veryfast", true, 38_072),
        (1920, 1080, "faster", true, 49_372), (1920, 1080, "medium", false, 34_900),
    ])
    func theEstimateIsNearWhatWasMeasured(width: Int, height: Int, preset: String, subpixel: Bool, measured: Int) {
        let canvas = CanvasFormat(width: width, height: height, frameRate: FrameRate(30))
        var settings = VideoEncoderSettings(canvas: canvas, bitrate: 2_500_000)
        settings.preset = preset
        settings.subpixelMotion = subpixel
        let ratio = Double(VideoEncoder.estimatedBytes(settings)) / Double(measured * 1024)
        #expect(abs(ratio - 1) < 0.06)
    }

    /// What was measured, in KiB: 1280x720, veryfast, zerolatency.
    @Test(arguments: [
        ("rc-lookahead", "10", 47_728), ("x264-params", "rc_lookahead=30", 105_448), ("refs", "4", 34_152),
        ("x264opts", "ref=4", 34_148), ("x264-params", "subme=0", 12_300), ("bf", "1", 27_804),
        ("bf", "2", 41_848), ("bf", "3", 45_260),
    ])
    func theEstimateKnowsOptions(name: String, value: String, measured: Int) {
        let canvas = CanvasFormat(width: 1280, height: 720, frameRate: FrameRate(30))
        var settings = VideoEncoderSettings(canvas: canvas, bitrate: 2_500_000)
        settings.options = [.init(name, value)]
        let ratio = Double(VideoEncoder.estimatedBytes(settings)) / Double(measured * 1024)
        #expect(abs(ratio - 1) < 0.06, "\(VideoEncoder.estimatedBytes(settings) / 1024)")
    }

    /// What a user's option decides is not saved: it stands after what would leave it out.
    @Test func subpixelMotionThatAnOptionAsksForIsNotSaved() {
        let canvas = CanvasFormat(width: 1280, height: 720, frameRate: FrameRate(30))
        var settings = VideoEncoderSettings(canvas: canvas, bitrate: 2_500_000)
        #expect(VideoEncoder.lean(settings, .noSubpixelMotion)?.subpixelMotion == false)
        settings.options = [.init("x264-params", "nr=1:subme=2")]
        #expect(VideoEncoder.lean(settings, .noSubpixelMotion) == nil)
        settings.threads = 2
        let lean = VideoEncoder.lean(settings, [.oneThread, .noSubpixelMotion])
        #expect(lean?.threads == 1 && lean?.subpixelMotion == true)
    }

    /// An effort takes what its preset does.
    @Test(arguments: VideoEffort.allCases) func efforts(_ effort: VideoEffort) {
        var settings = VideoEncoderSettings(
            canvas: CanvasFormat(width: 1280, height: 720, frameRate: FrameRate(30)), bitrate: 2_500_000)
        let preset = VideoEncoder.estimatedBytes(settings)
        settings.preset = "placebo"
        settings.effort = effort
        #expect(VideoEncoder.estimatedBytes(settings) == preset)
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
