import FrameGeometry
import MediaCore
import Testing

/// Whole frames against an independent rendering of the same scene in floating point.
@Suite struct PixelTests {
    private static let (width, height) = (120, 88)
    private static let canvas = canvasFormat(80, 104)

    private struct Case: Hashable {
        let transform: UprightTransform
        let fit: FitMode
    }

    /// Slow to make and the same for every pixel format.
    private static let references: [Case: CanvasBytes] = {
        var result: [Case: CanvasBytes] = [:]
        for transform in UprightTransform.allCases {
            for fit in FitMode.allCases {
                result[Case(transform: transform, fit: fit)] = ReferenceGeometry.render(
                    asymmetricScene, width: width, height: height, transform: transform, canvas: canvas, fit: fit)
            }
        }
        return result
    }()

    @Test(arguments: PixelFormat.allCases, FrameScaler.both)
    func everyTransformAndFit(format: PixelFormat, scaler: FrameScaler) throws {
        // Grey without its colours has no matrix to convert: it has to be made with the canvas's.
        let color = ColorDescription(matrix: format == .gray ? .bt709 : .bt601, range: format.isRGB ? .full : .video)
        let source = VideoSampleFormat(packed: format, width: Self.width, height: Self.height, color: color)
        let bytes = payload(of: asymmetricScene, as: source)
        for (what, expected) in Self.references {
            let plan = GeometryPlan(source: source, transform: what.transform, canvas: Self.canvas, fit: what.fit)
            let result = try paint(bytes, plan, scaler: scaler)
            expect(result, like: expected, luma: 44, chroma: 43.5, format, "\(what.transform) \(what.fit)")
        }
    }

    /// Sizes of source and canvas, and the least PSNR of luma and chroma. Odd sizes lose some: a crop has even sizes,
    /// and nine columns of chroma stand for seventeen of luma.
    @Test(arguments: [
        (17, 17, 64, 48, 32.0, 31.0), (33, 47, 40, 30, 35, 33), (95, 63, 96, 64, 44, 42), (63, 47, 64, 48, 35, 35),
        (101, 31, 40, 90, 38, 37), (16, 16, 16, 16, 44, 46), (16, 16, 128, 96, 43, 35), (64, 48, 64, 48, 49, 48),
        (200, 150, 64, 64, 46, 46), (255, 255, 16, 16, 43, 43), (320, 20, 64, 64, 47, 40),
    ])
    func sizes(
        width: Int, height: Int, canvasWidth: Int, canvasHeight: Int, luma: Double, chroma: Double
    ) throws {
        let canvas = canvasFormat(canvasWidth, canvasHeight)
        for (transform, fit) in [
            (UprightTransform.identity, FitMode.fit), (.rotate90Clockwise, .fill), (.transverse, .stretch),
        ] {
            let expected = ReferenceGeometry.render(
                asymmetricScene, width: width, height: height, transform: transform, canvas: canvas, fit: fit)
            for format in PixelFormat.allCases {
                let source = VideoSampleFormat(
                    packed: format, width: width, height: height, color: ColorDescription(matrix: .bt709, range: .full))
                let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: fit)
                let payload = payload(of: asymmetricScene, as: source)
                for scaler in FrameScaler.both {
                    expect(
                        try paint(payload, plan, scaler: scaler), like: expected, luma: luma, chroma: chroma, format,
                        "\(width)x\(height) -> \(canvasWidth)x\(canvasHeight) \(transform) \(fit) \(scaler)")
                }
            }
        }
    }

    private func expect(
        _ result: CanvasBytes, like expected: CanvasBytes, luma: Double, chroma: Double, _ format: PixelFormat,
        _ what: String
    ) {
        let comment = Comment(rawValue: "\(format.fourCC) \(what)")
        let (y, u, v) = (psnr(result.y, expected.y), psnr(result.u, expected.u), psnr(result.v, expected.v))
        #expect(y > luma, comment)
        #expect(ssim(result.y, expected.y, width: result.width) > 0.965, comment)
        if format == .gray {
            #expect(result.u.allSatisfy { $0 == 128 } && result.v.allSatisfy { $0 == 128 }, comment)
        } else {
            #expect(u > chroma, comment)
            #expect(v > chroma, comment)
        }
    }
}
