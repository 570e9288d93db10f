internal import CLibYUV
package import MediaCore

/// Puts pictures from `FrameIntake` onto the canvas, with bars around them: they are upright, and of their size there.
///
/// Belongs to the thread that owns the canvas memory. Owns nothing; remembers where it drew bars last, and draws them
/// again only when the picture's place or the canvas memory has changed.
package struct CanvasPainter {
    private let format: CanvasFormat
    private let background: CanvasColor
    /// The canvas memory whose bars are up to date, and what they surround.
    private var drawn: (memory: UInt, inside: PixelRect)?

    /// Bars and empty canvas have the colour `background`: black in the canvas's range where none is given.
    package init(canvas: CanvasFormat, background: CanvasColor? = nil) {
        format = canvas
        self.background = background ?? .black(canvas.color.range)
    }

    /// Paints a complete picture. Throws, and leaves the canvas alone, where the picture or the canvas is not of the
    /// plan's size.
    package mutating func paint(
        _ picture: Picture, plan: GeometryPlan, onto canvas: PicturePlanes
    ) throws(GeometryError) {
        try check(canvas.width, canvas.height, are: (plan.canvas.width, plan.canvas.height))
        try check(canvas.width, canvas.height, are: (format.width, format.height))
        try check(picture.width, picture.height, are: (plan.destination.width, plan.destination.height))
        let memory = unsafe UInt(bitPattern: canvas.y)
        if drawn?.memory != memory || drawn?.inside != plan.destination {
            drawBars(around: plan.destination, on: canvas)
            drawn = (memory, plan.destination)
        }
        let (from, rect) = (picture.planes, plan.destination)
        let half = PixelRect(x: rect.x / 2, y: rect.y / 2, width: rect.width / 2, height: rect.height / 2)
        unsafe copy(from.y, from.yStride, onto: canvas.y, canvas.yStride, at: rect)
        unsafe copy(from.u, from.uStride, onto: canvas.u, canvas.uStride, at: half)
        unsafe copy(from.v, from.vStride, onto: canvas.v, canvas.vStride, at: half)
    }

    /// Paints the whole canvas in the background colour: what is shown before the first frame.
    package mutating func fill(_ canvas: PicturePlanes) {
        drawn = nil
        fill(PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height), on: canvas)
    }

    private func check(_ width: Int, _ height: Int, are expected: (width: Int, height: Int)) throws(GeometryError) {
        guard (width, height) == expected else {
            throw GeometryError.sizeMismatch(
                expectedWidth: expected.width, expectedHeight: expected.height, width: width, height: height)
        }
    }

    private func drawBars(around rect: PixelRect, on canvas: PicturePlanes) {
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height)
        fill(PixelRect(x: 0, y: 0, width: canvas.width, height: rect.y), on: canvas)
        fill(PixelRect(x: 0, y: bottom, width: canvas.width, height: canvas.height - bottom), on: canvas)
        fill(PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height), on: canvas)
        fill(PixelRect(x: right, y: rect.y, width: canvas.width - right, height: rect.height), on: canvas)
    }

    /// Paints a rectangle of even numbers.
    private func fill(_ rect: PixelRect, on canvas: PicturePlanes) {
        guard rect.width > 0, rect.height > 0 else { return }
        let (width, height) = (CInt(rect.width), CInt(rect.height))
        unsafe SetPlane(
            canvas.y + rect.y * canvas.yStride + rect.x, CInt(canvas.yStride), width, height, UInt32(background.y))
        let (x, y) = (rect.x / 2, rect.y / 2)
        unsafe SetPlane(
            canvas.u + y * canvas.uStride + x, CInt(canvas.uStride), width / 2, height / 2, UInt32(background.u))
        unsafe SetPlane(
            canvas.v + y * canvas.vStride + x, CInt(canvas.vStride), width / 2, height / 2, UInt32(background.v))
    }

    /// Copies a whole plane to `rect`.
    private func copy(
        _ source: UnsafeMutablePointer<UInt8>, _ sourceStride: Int, onto plane: UnsafeMutablePointer<UInt8>,
        _ planeStride: Int, at rect: PixelRect
    ) {
        unsafe CopyPlane(
            source, CInt(sourceStride), plane + rect.y * planeStride + rect.x, CInt(planeStride), CInt(rect.width),
            CInt(rect.height))
    }
}
