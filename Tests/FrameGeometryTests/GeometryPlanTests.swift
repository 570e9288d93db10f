import FrameGeometry
import MediaCore
import SeededRandom
import Testing

@Suite struct GeometryPlanTests {
    private static func plan(
        _ width: Int, _ height: Int, _ transform: UprightTransform, _ canvasWidth: Int, _ canvasHeight: Int,
        _ fit: FitMode, _ format: PixelFormat = .nv12VideoRange
    ) -> GeometryPlan {
        GeometryPlan(
            source: VideoSampleFormat(packed: format, width: width, height: height), transform: transform,
            canvas: canvasFormat(canvasWidth, canvasHeight), fit: fit)
    }

    /// Source, turned or not, canvas, fit: crop, destination.
    @Test(arguments: [
        (1920, 1080, false, 1280, 720, FitMode.fit, "1920x1080+0+0", "1280x720+0+0"),
        (1920, 1080, true, 720, 1280, .fit, "1920x1080+0+0", "720x1280+0+0"),
        (1920, 1080, false, 720, 1280, .fit, "1920x1080+0+0", "720x406+0+436"),
        (1920, 1080, true, 1280, 720, .fit, "1920x1080+0+0", "406x720+436+0"),
        (1920, 1080, false, 720, 1280, .fill, "608x1080+656+0", "720x1280+0+0"),
        (1920, 1080, true, 1280, 720, .fill, "608x1080+656+0", "1280x720+0+0"),
        (1920, 1080, false, 720, 1280, .stretch, "1920x1080+0+0", "720x1280+0+0"),
        (1170, 2532, false, 720, 1280, .fit, "1170x2532+0+0", "592x1280+64+0"),
        (1170, 2532, false, 720, 1280, .fill, "1170x2080+0+226", "720x1280+0+0"),
        (2532, 1170, true, 720, 1280, .fill, "2080x1170+226+0", "720x1280+0+0"),
        (17, 17, false, 18, 18, .fit, "17x17+0+0", "18x18+0+0"),
        (17, 33, false, 64, 64, .fill, "17x18+0+6", "64x64+0+0"),
        (17, 33, true, 64, 64, .fit, "17x33+0+0", "64x32+0+16"),
        (16, 16, false, 4096, 4096, .fit, "16x16+0+0", "4096x4096+0+0"),
        (4096, 4096, false, 64, 64, .fill, "4096x4096+0+0", "64x64+0+0"),
        (4096, 16, false, 64, 4096, .fit, "4096x16+0+0", "64x2+0+2046"),
        (4096, 16, false, 16, 4096, .fill, "2x16+2046+0", "16x4096+0+0"),
        (16, 4096, true, 4096, 16, .fill, "16x4096+0+0", "4096x16+0+0"),
    ])
    func table(
        width: Int, height: Int, isTurned: Bool, canvasWidth: Int, canvasHeight: Int, fit: FitMode, crop: String,
        destination: String
    ) {
        for transform in UprightTransform.allCases where transform.swapsAxes == isTurned {
            let plan = Self.plan(width, height, transform, canvasWidth, canvasHeight, fit)
            #expect(plan.crop.description == crop)
            #expect(plan.destination.description == destination)
        }
    }

    @Test func stepsOfATurnedScreen() {
        let plan = GeometryPlan(
            source: VideoSampleFormat(packed: .bgra, width: 1920, height: 1080), transform: .rotate90Clockwise,
            canvas: canvasFormat(720, 1280), fit: .fit)
        #expect(
            plan.steps.map(\.description) == [
                "source pixels 1920x1080+0+0 of BGRA",
                "unpack to planes of 1920x1080",
                "scale to 1280x720",
                "turn by rotate90Clockwise",
                "convert colour to bt709 video",
                "place at 720x1280+0+0",
            ])
    }

    @Test func stepsThatChangeNothingAreLeftOut() {
        let rect = PixelRect(x: 0, y: 0, width: 64, height: 48)
        let i420 = Self.plan(64, 48, .identity, 64, 48, .fit, .i420)
        #expect(i420.steps == [.sourcePixels(.i420, crop: rect), .place(rect)])
        // Luma stays as it is, but 4:2:2 chroma has twice the rows.
        let yuy2 = Self.plan(64, 48, .identity, 64, 48, .fit, .yuy2)
        #expect(
            yuy2.steps == [
                .sourcePixels(.yuy2, crop: rect), .unpack(width: 64, height: 48), .scale(width: 64, height: 48),
                .place(rect),
            ])
    }

    @Test func destinationsOnAnyCanvas() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<4000 {
            let (width, height) = (Int.random(in: 16...4096, using: &random), Int.random(in: 16...4096, using: &random))
            let transform = UprightTransform.allCases.randomElement(using: &random)!
            let fit = FitMode.allCases.randomElement(using: &random)!
            let format = PixelFormat.allCases.randomElement(using: &random)!
            let plan = Self.plan(
                width, height, transform, 2 * Int.random(in: 8...2048, using: &random),
                2 * Int.random(in: 8...2048, using: &random), fit, format)
            let (crop, rect) = (plan.crop, plan.destination)
            let comment = Comment(rawValue: "\(plan)")

            #expect([rect.x, rect.y, rect.width, rect.height].allSatisfy { $0 % 2 == 0 }, comment)
            #expect(rect.x >= 0 && rect.x + rect.width <= plan.canvas.width && rect.width > 0, comment)
            #expect(rect.y >= 0 && rect.y + rect.height <= plan.canvas.height && rect.height > 0, comment)
            // Centred: no bar is more than one chroma sample wider than the one on the other side.
            #expect(abs(2 * rect.x + rect.width - plan.canvas.width) <= 2, comment)
            #expect(abs(2 * rect.y + rect.height - plan.canvas.height) <= 2, comment)

            #expect(crop.x % 2 == 0 && crop.y % 2 == 0, comment)
            #expect(crop.width % 2 == 0 || crop.width == width, comment)
            #expect(crop.height % 2 == 0 || crop.height == height, comment)
            #expect(crop.x >= 0 && crop.x + crop.width <= width && crop.width > 0, comment)
            #expect(crop.y >= 0 && crop.y + crop.height <= height && crop.height > 0, comment)
            #expect(abs(2 * crop.x + crop.width - width) <= 3, comment)
            #expect(abs(2 * crop.y + crop.height - height) <= 3, comment)

            // The ratio is kept: one side is exact, the other at most one pixel off, unless that leaves less than two.
            let (shownWidth, shownHeight) = transform.swapsAxes ? (crop.height, crop.width) : (crop.width, crop.height)
            switch fit {
            case .stretch:
                #expect((crop.width, crop.height) == (width, height), comment)
                #expect((rect.width, rect.height) == (plan.canvas.width, plan.canvas.height), comment)
            case .fit:
                #expect((crop.width, crop.height) == (width, height), comment)
                #expect(rect.width == plan.canvas.width || rect.height == plan.canvas.height, comment)
                let exactWidth = Double(rect.height * shownWidth) / Double(shownHeight)
                let exactHeight = Double(rect.width * shownHeight) / Double(shownWidth)
                #expect(
                    min(abs(exactWidth - Double(rect.width)), abs(exactHeight - Double(rect.height))) <= 1
                        || min(rect.width, rect.height) == 2, comment)
            case .fill:
                #expect((rect.width, rect.height) == (plan.canvas.width, plan.canvas.height), comment)
                #expect(crop.width == width || crop.height == height, comment)
                let exactWidth = Double(shownHeight * rect.width) / Double(rect.height)
                let exactHeight = Double(shownWidth * rect.height) / Double(rect.width)
                #expect(
                    min(abs(exactWidth - Double(shownWidth)), abs(exactHeight - Double(shownHeight))) <= 1
                        || min(shownWidth, shownHeight) == 2, comment)
            }
        }
    }
}
