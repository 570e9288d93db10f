import CLibSWScale
import CLibYUV
import FrameGeometry
import MediaCore
import SeededRandom
import Testing

/// The same frame by libyuv (turned, then scaled with its box filter) and by libswscale (bicubic, areas): what others
/// show.
@Suite struct AgainstLibrariesTests {
    private static let (width, height) = (320, 180)

    private static func turned(_ source: [UInt8], _ transform: UprightTransform) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: source.count)
        let (w, h) = (CInt(width), CInt(height))
        let stride = transform.swapsAxes ? h : w
        switch transform {
        case .rotate90Clockwise: _ = RotatePlane(source, w, &result, stride, w, h, kRotate90)
        case .rotate270Clockwise: _ = RotatePlane(source, w, &result, stride, w, h, kRotate270)
        case .rotate180: _ = RotatePlane(source, w, &result, stride, w, h, kRotate180)
        default: result = source
        }
        return result
    }

    private static func scaledByYUV(_ source: [UInt8], _ w: Int, _ h: Int, _ canvas: CanvasFormat) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: canvas.width * canvas.height)
        ScalePlane(
            source, CInt(w), CInt(w), CInt(h), &result, CInt(canvas.width), CInt(canvas.width), CInt(canvas.height),
            kFilterBox)
        return result
    }

    private static func scaledBySWScale(
        _ source: [UInt8], _ w: Int, _ h: Int, _ canvas: CanvasFormat, _ kernel: CInt
    ) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: canvas.width * canvas.height + 64)
        let context = sws_getContext(
            CInt(w), CInt(h), AV_PIX_FMT_GRAY8, CInt(canvas.width), CInt(canvas.height), AV_PIX_FMT_GRAY8,
            kernel | SWS_ACCURATE_RND, nil, nil, nil)
        defer { sws_freeContext(context) }
        _ = upcast_sws_scale_plane(context, source + [UInt8](repeating: 0, count: 64), CInt(w), 0, CInt(h), &result,
            CInt(canvas.width))
        return Array(result.prefix(canvas.width * canvas.height))
    }

    /// 1920x1080 to 720p, 540p, 1080p and 1620p, both shapes, at a sixth of the size.
    @Test(arguments: [
        (213, 120, UprightTransform.identity), (120, 213, .rotate90Clockwise), (120, 213, .rotate270Clockwise),
        (160, 90, .rotate180), (90, 160, .rotate90Clockwise), (320, 180, .rotate180), (180, 320, .rotate270Clockwise),
        (480, 270, .identity), (270, 480, .rotate90Clockwise),
    ])
    func nearBoth(canvasWidth: Int, canvasHeight: Int, transform: UprightTransform) throws {
        let canvas = canvasFormat(canvasWidth & ~1, canvasHeight & ~1)
        let source = VideoSampleFormat(packed: .gray, width: Self.width, height: Self.height)
        let bytes = payload(of: asymmetricScene, as: source)
        let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: .stretch)
        let upright = Self.turned(bytes, transform)
        let (w, h) = transform.swapsAxes ? (Self.height, Self.width) : (Self.width, Self.height)
        for (scaler, kernel) in [(FrameScaler.native, SWS_BICUBIC), (.libyuv, SWS_AREA)] {
            let ours = try paint(bytes, plan, scaler: scaler).y
            if (w, h) == (canvas.width, canvas.height) {
                #expect(ours == upright, "a turn alone changes no sample, \(scaler)")
            }
            let yuv = psnr(ours, Self.scaledByYUV(upright, w, h, canvas))
            let sws = psnr(ours, Self.scaledBySWScale(upright, w, h, canvas, kernel))
            #expect(yuv > 49, "\(scaler), libyuv \(yuv) dB")
            #expect(sws > 50, "\(scaler), libswscale \(sws) dB")
        }
    }

    /// Dots as hard as text: kernels differ by far here. They are dark and light grey, because what exceeds black and
    /// white is lost between the two directions.
    @Test(arguments: [(214, 120), (240, 136), (160, 90), (128, 72), (108, 60), (480, 270)])
    func asSharpAsLibswscale(canvasWidth: Int, canvasHeight: Int) throws {
        let canvas = canvasFormat(canvasWidth, canvasHeight)
        let source = VideoSampleFormat(packed: .gray, width: Self.width, height: Self.height)
        var random = SplitMix64(seed: 5)
        let dots = (0..<Self.width * Self.height).map { _ in UInt8(random.next() % 4 == 0 ? 60 : 200) }
        let bytes = (0..<Self.height).flatMap { y in
            (0..<Self.width).map { x in dots[y / 2 * Self.width + x / 2] }
        }
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .stretch)
        let ours = try paint(bytes, plan, scaler: .native).y
        let bicubic = psnr(ours, Self.scaledBySWScale(bytes, Self.width, Self.height, canvas, SWS_BICUBIC))
        let area = psnr(ours, Self.scaledBySWScale(bytes, Self.width, Self.height, canvas, SWS_AREA))
        #expect(bicubic > 45, "\(bicubic) dB")
        #expect(area < 38, "\(area) dB: the picture cannot tell")
    }
}
