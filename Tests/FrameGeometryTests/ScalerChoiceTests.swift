import FrameGeometry
import MediaCore
import Testing

@Suite struct ScalerChoiceTests {
    private static func plan(
        _ width: Int, _ height: Int, _ canvasWidth: Int, _ canvasHeight: Int, _ transform: UprightTransform = .identity
    ) -> GeometryPlan {
        GeometryPlan(
            source: VideoSampleFormat(packed: .nv12VideoRange, width: width, height: height), transform: transform,
            canvas: canvasFormat(canvasWidth, canvasHeight), fit: .fit)
    }

    @Test func whatIsWantedIsTaken() {
        for scaler in FrameScaler.allCases {
            for processor in [ScalerChoice.Processor.x86WithAVX2, .x86WithSSSE3, .x86, .other] {
                let choice = ScalerChoice.always(scaler)
                #expect(choice.scaler(for: nil, on: processor) == scaler)
                #expect(choice.scaler(for: Self.plan(640, 360, 320, 180), on: processor) == scaler)
            }
        }
    }

    /// Each case is faster as it is here, by scripts/bench --only geometry.
    @Test func autoTakesTheFasterOne() {
        typealias Case = (plan: GeometryPlan, avx2: FrameScaler, ssse3: FrameScaler)
        let cases: [Case] = [
            (Self.plan(1920, 1080, 1280, 720), .native, .libyuv),
            (Self.plan(1920, 1080, 720, 1280, .rotate90Clockwise), .native, .libyuv),
            (Self.plan(1920, 1080, 1080, 1920, .rotate90Clockwise), .native, .native),
            (Self.plan(1170, 2532, 720, 1280), .native, .native),
            (Self.plan(2560, 1440, 1280, 720), .libyuv, .libyuv),
            (Self.plan(2560, 1440, 1280, 720, .rotate180), .libyuv, .libyuv),
            (Self.plan(2560, 1440, 720, 1280, .rotate270Clockwise), .libyuv, .libyuv),
            (Self.plan(2560, 1440, 1920, 1080), .libyuv, .libyuv),
            (Self.plan(2560, 1440, 1080, 1920, .rotate90Clockwise), .native, .libyuv),
            (Self.plan(2560, 1440, 640, 360), .libyuv, .libyuv),
        ]
        for (plan, avx2, ssse3) in cases {
            #expect(ScalerChoice.auto.scaler(for: plan, on: .x86WithAVX2) == avx2, "\(plan)")
            #expect(ScalerChoice.auto.scaler(for: plan, on: .x86WithSSSE3) == ssse3, "\(plan)")
            #expect(ScalerChoice.auto.scaler(for: plan, on: .x86) == .native, "\(plan)")
            #expect(ScalerChoice.auto.scaler(for: plan, on: .other) == .libyuv, "\(plan)")
        }
        #expect(ScalerChoice.auto.scaler(for: nil, on: .x86WithAVX2) == .native)
        #expect(ScalerChoice.auto.scaler(for: nil, on: .other) == .libyuv)
    }

    /// One intake goes from one scaler to the other and back.
    @Test func anIntakeChanges() throws {
        let canvas = canvasFormat(160, 96)
        let intake = FrameIntake(bars: CanvasBars(canvas: canvas), scaler: .auto)
        for (width, height) in [(240, 144), (320, 192), (240, 144), (640, 384)] {
            let plan = Self.plan(width, height, 160, 96)
            let bytes = payload(of: asymmetricScene, as: plan.source)
            let picture = try take(bytes, plan, with: intake)
            let scaler = ScalerChoice.auto.scaler(for: plan)
            #expect(intake.scaler == scaler)
            let expected = try paint(bytes, plan, scaler: scaler)
            #expect(withExtendedLifetime(picture) { CanvasBytes(picture.planes) } == expected)
        }
    }
}
