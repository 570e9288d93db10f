package import MediaCore

/// The position of a picture on a canvas. The picture may extend beyond the canvas.
package struct Placement: Equatable, Sendable {
    package let sourceWidth: Int
    package let sourceHeight: Int
    package let x: Double
    package let y: Double
    package let width: Double
    package let height: Double

    package init(sourceWidth: Int, sourceHeight: Int, canvasWidth: Int, canvasHeight: Int, fit: FitMode) {
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        let across = Double(canvasWidth) / Double(sourceWidth)
        let down = Double(canvasHeight) / Double(sourceHeight)
        let scale: (x: Double, y: Double) =
            switch fit {
            case .fit: (min(across, down), min(across, down))
            case .fill: (max(across, down), max(across, down))
            case .stretch: (across, down)
            }
        width = Double(sourceWidth) * scale.x
        height = Double(sourceHeight) * scale.y
        x = (Double(canvasWidth) - width) / 2
        y = (Double(canvasHeight) - height) / 2
    }

    package func canvasX(_ sourceX: Double) -> Double { x + sourceX * width / Double(sourceWidth) }
    package func canvasY(_ sourceY: Double) -> Double { y + sourceY * height / Double(sourceHeight) }
}

/// The expected content of a canvas, computed in floating point from the upright picture.
package enum ReferenceCanvas {
    /// Places `upright` with a triangle filter that widens when shrinking (the usual antialiased bilinear), then
    /// converts to BT.709 video range 4:2:0 with chroma averaged over each 2x2 block.
    package static func render(
        _ upright: RGBImage, width: Int, height: Int, fit: FitMode, background: RGB = RGB(0, 0, 0)
    ) -> I420Image {
        let placement = Placement(
            sourceWidth: upright.width, sourceHeight: upright.height, canvasWidth: width, canvasHeight: height,
            fit: fit)
        let columns = FilterTaps.row(
            count: width, origin: placement.x, length: placement.width, source: upright.width)
        let rows = FilterTaps.row(count: height, origin: placement.y, length: placement.height, source: upright.height)
        var canvas = RGBImage(width: width, height: height, filling: background)
        // The first pass is horizontal, into an image as tall as the source. The second one is vertical.
        var narrowed = [Float](repeating: 0, count: width * upright.height * 3)
        upright.pixels.withUnsafeBufferPointer { sourceBuffer in
            narrowed.withUnsafeMutableBufferPointer { targetBuffer in
                let (source, target) = (sourceBuffer.baseAddress!, targetBuffer.baseAddress!)
                var y = 0
                while y < upright.height {
                    for (x, taps) in columns {
                        taps.sum(source + y * upright.width * 3, step: 3, into: target + (y * width + x) * 3)
                    }
                    y += 1
                }
            }
        }
        narrowed.withUnsafeBufferPointer { sourceBuffer in
            canvas.pixels.withUnsafeMutableBufferPointer { targetBuffer in
                let (source, target) = (sourceBuffer.baseAddress!, targetBuffer.baseAddress!)
                for (y, taps) in rows {
                    for (x, _) in columns {
                        taps.sum(source + x * 3, step: width * 3, into: target + (y * width + x) * 3)
                    }
                }
            }
        }
        return ColorConversion.i420(canvas, matrix: .bt709, range: .video)
    }
}

/// The source samples that make one target sample, and their weights.
private struct FilterTaps {
    let first: Int
    let weights: [Float]

    /// The taps of each covered target sample of a row of `count`; the source covers `length` of it from `origin` on.
    static func row(count: Int, origin: Double, length: Double, source: Int) -> [(Int, FilterTaps)] {
        let ratio = Double(source) / length
        let radius = max(1, ratio)
        return (0..<count).compactMap { target in
            let centre = (Double(target) + 0.5 - origin) * ratio
            guard centre > 0, centre < Double(source) else { return nil }
            let first = max(0, Int((centre - radius).rounded(.up)))
            let last = min(source - 1, Int((centre + radius).rounded(.down)))
            var weights: [Float] = []
            for index in first...max(first, last) {
                weights.append(Float(max(0, 1 - abs(Double(index) + 0.5 - centre) / radius)))
            }
            let sum = weights.reduce(0, +)
            return (target, FilterTaps(first: first, weights: weights.map { $0 / sum }))
        }
    }

    func sum(_ source: UnsafePointer<Float>, step: Int, into target: UnsafeMutablePointer<Float>) {
        var (red, green, blue): (Float, Float, Float) = (0, 0, 0)
        weights.withUnsafeBufferPointer { buffer in
            let weights = buffer.baseAddress!
            var from = source + first * step
            var index = 0
            while index < buffer.count {
                let weight = weights[index]
                red += from[0] * weight
                green += from[1] * weight
                blue += from[2] * weight
                from += step
                index += 1
            }
        }
        target[0] = red
        target[1] = green
        target[2] = blue
    }
}
