import FrameGeometry
import MediaCore

/// A canvas as three arrays, for comparisons.
struct CanvasBytes: Equatable {
    var width: Int
    var height: Int
    var y: [UInt8]
    var u: [UInt8]
    var v: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        y = Array(repeating: 0, count: width * height)
        u = Array(repeating: 0, count: width / 2 * (height / 2))
        v = u
    }

    init(_ picture: Picture) { self = withExtendedLifetime(picture) { CanvasBytes(picture.planes) } }

    init(_ planes: PicturePlanes) {
        func rows(_ start: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int) -> [UInt8] {
            (0..<height).flatMap { Array(UnsafeBufferPointer(start: start + $0 * stride, count: width)) }
        }
        width = planes.width
        height = planes.height
        y = rows(planes.y, planes.yStride, width, height)
        u = rows(planes.u, planes.uStride, width / 2, height / 2)
        v = rows(planes.v, planes.vStride, width / 2, height / 2)
    }
}

/// Where things should lie, in real numbers and independently of `GeometryPlan`.
enum ReferenceGeometry {
    /// The whole canvas for `.fill` and `.stretch`; for `.fit` the even-sized rectangle of the picture's shape.
    static func destination(_ width: Int, _ height: Int, canvas: CanvasFormat, fit: FitMode) -> PixelRect {
        guard fit == .fit else { return PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height) }
        let scale = min(Double(canvas.width) / Double(width), Double(canvas.height) / Double(height))
        func even(_ size: Int, _ limit: Int) -> Int {
            max(2, min(limit, Int((Double(size) * scale / 2).rounded()) * 2))
        }
        let (w, h) = (even(width, canvas.width), even(height, canvas.height))
        func centre(_ size: Int, _ limit: Int) -> Int { Int((Double(limit - size) / 4).rounded(.down)) * 2 }
        return PixelRect(x: centre(w, canvas.width), y: centre(h, canvas.height), width: w, height: h)
    }

    /// The stored point (unit square) that is seen at a point of the upright picture (unit square), by the definition
    /// of each transform: where does the pixel come from?
    static func storedPoint(_ x: Double, _ y: Double, _ transform: UprightTransform) -> (x: Double, y: Double) {
        switch transform {
        case .identity: (x, y)
        case .mirrorHorizontal: (1 - x, y)
        case .rotate180: (1 - x, 1 - y)
        case .mirrorVertical: (x, 1 - y)
        case .transpose: (y, x)
        case .rotate90Clockwise: (y, 1 - x)
        case .transverse: (1 - y, 1 - x)
        case .rotate270Clockwise: (1 - y, x)
        }
    }

    /// Renders what should be on the canvas, pixel by pixel from the scene, with black bars.
    static func render(
        _ scene: Scene, width: Int, height: Int, transform: UprightTransform, canvas: CanvasFormat, fit: FitMode
    ) -> CanvasBytes {
        let (w, h) = transform.swapsAxes ? (height, width) : (width, height)
        let rect = destination(w, h, canvas: canvas, fit: fit)
        // The part of the upright picture that is shown, as a share of each side; its middle is the picture's.
        var (shareX, shareY) = (1.0, 1.0)
        if fit == .fill {
            let (pictureShape, canvasShape) = (Double(w) / Double(h), Double(canvas.width) / Double(canvas.height))
            shareX = min(1, canvasShape / pictureShape)
            shareY = min(1, pictureShape / canvasShape)
        }
        func color(_ x: Double, _ y: Double) -> YCbCr? {
            let inRectX = (x - Double(rect.x)) / Double(rect.width)
            let inRectY = (y - Double(rect.y)) / Double(rect.height)
            guard (0..<1).contains(inRectX), (0..<1).contains(inRectY) else { return nil }
            let point = storedPoint(0.5 + (inRectX - 0.5) * shareX, 0.5 + (inRectY - 0.5) * shareY, transform)
            return YCbCr(scene(point.x, point.y), as: canvas.color)
        }
        let black = YCbCr(RGB(red: 0, green: 0, blue: 0), as: canvas.color)
        var result = CanvasBytes(width: canvas.width, height: canvas.height)
        for row in 0..<canvas.height {
            for column in 0..<canvas.width {
                result.y[row * canvas.width + column] =
                    byte((color(Double(column) + 0.5, Double(row) + 0.5) ?? black).y)
            }
        }
        for row in 0..<canvas.height / 2 {
            for column in 0..<canvas.width / 2 {
                let sample = color(Double(2 * column) + 1, Double(2 * row) + 1) ?? black
                result.u[row * canvas.width / 2 + column] = byte(sample.cb)
                result.v[row * canvas.width / 2 + column] = byte(sample.cr)
            }
        }
        return result
    }
}
