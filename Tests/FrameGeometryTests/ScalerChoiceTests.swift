import FrameGeometry
import MediaCore
import Testing

@Suite struct ScalerChoiceTests {
    private static func plan(
        _ width: Int, _ height: Int, _ canvasWidth: Int, _ canvasHeight: Int, _ transform: UprightTransform = .identity,
        format: PixelFormat = .nv12VideoRange
    ) -> GeometryPlan {
        GeometryPlan(
            source: VideoSampleFormat(packed: format, width: width, height: height), transform: transform,
            canvas: canvasFormat(canvasWidth, canvasHeight), fit: .stretch)
    }

    @Test func whatIsWantedIsTaken() {
        for scaler in FrameScaler.allCases {
            for processor in [ScalerChoice.Processor.x86WithAVX2, .x86WithSSSE3, .x86, .other] {
                let choice = ScalerChoice.always(scaler)
                #expect(choice.scaler(for: nil, on: processor) == scaler)
                #expect(choice.scaler(for: Self.plan(640, 360, 320, 180), on: processor) == scaler)
                #expect(choice.scaler(for: Self.plan(480, 270, 160, 90), on: processor) == scaler)
                // Bicubic goes no further than a third, of luma and of chroma.
                #expect(choice.scaler(for: Self.plan(482, 270, 160, 90), on: processor) == .libyuv)
                #expect(choice.scaler(for: Self.plan(480, 272, 160, 90), on: processor) == .libyuv)
                for format in [PixelFormat.i444, .yuy2] {
                    #expect(choice.scaler(for: Self.plan(240, 135, 160, 90, format: format), on: processor) == scaler)
                    #expect(choice.scaler(for: Self.plan(240, 136, 160, 90, format: format), on: processor) == .libyuv)
                }
            }
        }
    }

    /// With AVX2, the sharper one. Without, scripts/bench --only geometry has libyuv as the faster one unless pictures
    /// are only turned.
    @Test func autoTakesTheSharperOneWhereItIsFast() {
        typealias Case = (plan: GeometryPlan, avx2: FrameScaler, ssse3: FrameScaler)
        let cases: [Case] = [
            (Self.plan(1920, 1080, 1280, 720), .native, .libyuv),
            (Self.plan(1920, 1080, 720, 1280, .rotate90Clockwise), .native, .libyuv),
            (Self.plan(1920, 1080, 1080, 1920, .rotate90Clockwise), .native, .native),
            (Self.plan(1170, 2532, 720, 1280), .native, .libyuv),
            (Self.plan(2560, 1440, 1280, 720, .rotate180), .native, .libyuv),
            (Self.plan(3840, 2160, 1280, 720), .native, .libyuv),
            (Self.plan(2560, 1440, 640, 360), .libyuv, .libyuv),
        ]
        for (plan, avx2, ssse3) in cases {
            #expect(ScalerChoice.auto.scaler(for: plan, on: .x86WithAVX2) == avx2, "\(plan)")
            #expect(ScalerChoice.auto.scaler(for: plan, on: .x86WithSSSE3) == ssse3, "\(plan)")
            #expect(ScalerChoice.auto.scaler(for: plan, on: .x86) == avx2, "\(plan)")
            #expect(ScalerChoice.auto.scaler(for: plan, on: .other) == .libyuv, "\(plan)")
        }
        #expect(ScalerChoice.auto.scaler(for: nil, on: .x86WithAVX2) == .native)
        #expect(ScalerChoice.auto.scaler(for: nil, on: .other) == .libyuv)
    }

    /// One intake goes from one scaler to the other and back.
    @Test func anIntakeChanges() throws {
        let canvas = canvasFormat(160, 96)
        let intake = FrameIntake(bars: CanvasBars(canvas: canvas), scaler: .auto)
        for (width, height) in [(240, 144), (656, 384), (240, 144), (320, 192)] {
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
