package import MediaCore

/// The steps that bring a sample onto the canvas, decided without pixels. A pure value.
///
/// A sample is cropped, scaled and turned as it arrives (in bands, by `FrameIntake`). The `Picture` between the two
/// threads is therefore small, there is exactly one resampling, and the encoder thread has no work left. Example: a
/// 1920x1080 BGRA sample that needs a quarter turn, on a 720x1280 canvas, has these steps:
///
///     source pixels 1920x1080+0+0 of BGRA
///     unpack to planes of 1920x1080
///     scale to 1280x720
///     turn by rotate90Clockwise
///     convert colour to bt709 video
///     place at 720x1280+0+0
package struct GeometryPlan: Equatable, Sendable {
    /// The format that the client sends.
    package let source: VideoSampleFormat
    /// The transform that turns it upright.
    package let transform: UprightTransform
    package let canvas: CanvasFormat
    package let fit: FitMode
    /// The part of the source that is shown, in stored coordinates. `x` and `y` are even. `width` and `height` are
    /// even, or those of the whole source.
    package let crop: PixelRect
    /// The place of the upright picture on the canvas: centred, with four even numbers.
    package let destination: PixelRect
    /// Nil if the source and the canvas have the same matrix and range.
    package let colorConversion: ColorConversion?

    /// The maximum width and height of a source and of a canvas; the minimum is 16.
    package static let greatestDimension = 4096

    /// Width and height of source and canvas must be 16...4096, and the canvas's must be even. Code that reads them
    /// from outside has checked that. `FrameIntake.begin` checks the location of the planes.
    package init(source: VideoSampleFormat, transform: UprightTransform, canvas: CanvasFormat, fit: FitMode) {
        let sizes = 16...Self.greatestDimension
        precondition(sizes.contains(source.width) && sizes.contains(source.height), "source size out of range")
        precondition(sizes.contains(canvas.width) && sizes.contains(canvas.height), "canvas size out of range")
        precondition(canvas.width % 2 == 0 && canvas.height % 2 == 0, "canvas size is odd")
        self.source = source
        self.transform = transform
        self.canvas = canvas
        self.fit = fit
        colorConversion = ColorConversion(source: IntakeColor(unpacked: source), canvas: canvas.color)

        let upright = transform.swapsAxes ? (source.height, source.width) : (source.width, source.height)
        let target = (canvas.width, canvas.height)
        switch fit {
        case .stretch:
            crop = PixelRect(x: 0, y: 0, width: source.width, height: source.height)
            destination = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
        case .fit:
            crop = PixelRect(x: 0, y: 0, width: source.width, height: source.height)
            let size = Self.greatestEvenSize(shapedAs: upright, within: target)
            destination = Self.centred(size, in: target)
        case .fill:
            let size = Self.greatestEvenSize(shapedAs: target, within: upright)
            let stored = transform.swapsAxes ? (size.height, size.width) : size
            crop = Self.centred(stored, in: (source.width, source.height))
            destination = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
        }
    }

    private typealias Size = (width: Int, height: Int)

    /// The largest rectangle inside `bounds` with the aspect ratio of `shape`. It touches `bounds` in one direction.
    /// The other direction is rounded to the nearest even number, and is at least 2.
    private static func greatestEvenSize(shapedAs shape: Size, within bounds: Size) -> Size {
        // Cross products instead of ratios are exact, and stay below 2^24.
        let shapeIsWider = shape.width * bounds.height > shape.height * bounds.width
        if shapeIsWider {
            return (bounds.width, nearestEven(bounds.width * shape.height, over: shape.width, within: bounds.height))
        }
        return (nearestEven(bounds.height * shape.width, over: shape.height, within: bounds.width), bounds.height)
    }

    /// The nearest even number, at most `limit`. Only `limit` itself may be odd.
    private static func nearestEven(_ dividend: Int, over divisor: Int, within limit: Int) -> Int {
        let even = (dividend + divisor) / (2 * divisor) * 2
        return even >= limit ? limit : max(2, even)
    }

    private static func centred(_ size: Size, in bounds: Size) -> PixelRect {
        PixelRect(
            x: (bounds.width - size.width) / 4 * 2, y: (bounds.height - size.height) / 4 * 2,
            width: size.width, height: size.height)
    }
}
