internal import FrameGeometry
internal import Lettering
internal import MediaCore

/// A round pen that follows a letter's strokes, with smooth edges. Holds the coverage of each sample by one letter.
/// Used by one thread.
final class StrokePen {
    private var coverage: [UInt8] = []

    /// Draws strokes on a picture, and clips them at its edges. A chroma sample gets the mean coverage of its four luma
    /// samples.
    ///
    /// - Parameters:
    ///   - x: the left edge of the strokes, in pixels; `width` is in pixels, too.
    ///   - scale: pixels per unit of the strokes.
    func draw(
        _ strokes: [[GlyphPoint]], x: Float, baseline: Float, scale: Float, width: Float, _ color: CanvasColor,
        on picture: PicturePlanes
    ) {
        let points = strokes.lazy.joined()
        guard let first = points.first else { return }
        var (least, most) = (first, first)
        for point in points {
            (least.x, least.y) = (min(least.x, point.x), min(least.y, point.y))
            (most.x, most.y) = (max(most.x, point.x), max(most.y, point.y))
        }
        // Dots are larger than the pen, and the smooth edge is one pixel wide.
        let reach = width * Self.dot / 2 + 1
        let left = max(0, Int(x + least.x * scale - reach) & ~1)
        let top = max(0, Int(baseline - most.y * scale - reach) & ~1)
        let right = min(picture.width, (Int(x + most.x * scale + reach) + 2) & ~1)
        let bottom = min(picture.height, (Int(baseline - least.y * scale + reach) + 2) & ~1)
        guard left < right, top < bottom else { return }
        let area = PixelRect(x: left, y: top, width: right - left, height: bottom - top)
        coverage.removeAll(keepingCapacity: true)
        coverage.append(contentsOf: repeatElement(0, count: area.width * area.height))
        for stroke in strokes {
            let path = stroke.map {
                GlyphPoint(x + $0.x * scale - Float(left), baseline - $0.y * scale - Float(top))
            }
            if path.count == 1 {
                cover(path[0], path[0], radius: width * Self.dot / 2, area)
            } else {
                for index in 1..<path.count { cover(path[index - 1], path[index], radius: width / 2, area) }
            }
        }
        blend(color, on: picture.part(area), area)
    }

    private static let dot: Float = 1.3

    /// Covers the samples that are nearer to a line than `radius`.
    private func cover(_ a: GlyphPoint, _ b: GlyphPoint, radius: Float, _ area: PixelRect) {
        let reach = radius + 1
        let columns = Self.range(a.x, b.x, reach, below: area.width)
        let rows = Self.range(a.y, b.y, reach, below: area.height)
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let length = dx * dx + dy * dy
        for row in rows {
            let y = Float(row) + 0.5 - a.y
            for column in columns {
                let x = Float(column) + 0.5 - a.x
                let part = length > 0 ? max(0, min(1, (x * dx + y * dy) / length)) : 0
                let (ex, ey) = (x - part * dx, y - part * dy)
                let inside = radius + 0.5 - (ex * ex + ey * ey).squareRoot()
                guard inside > 0 else { continue }
                let index = row * area.width + column
                coverage[index] = max(coverage[index], UInt8(min(1, inside) * 255))
            }
        }
    }

    private static func range(_ a: Float, _ b: Float, _ reach: Float, below limit: Int) -> Range<Int> {
        let first = max(0, min(limit, Int(min(a, b) - reach)))
        return first..<max(first, min(limit, Int(max(a, b) + reach) + 1))
    }

    private func blend(_ color: CanvasColor, on part: PicturePlanes, _ area: PixelRect) {
        for row in 0..<area.height {
            for column in 0..<area.width {
                unsafe Self.blend(
                    &part.y[row * part.yStride + column], color.y, Int(coverage[row * area.width + column]))
            }
        }
        for row in 0..<area.height / 2 {
            for column in 0..<area.width / 2 {
                let index = 2 * row * area.width + 2 * column
                let sum =
                    Int(coverage[index]) + Int(coverage[index + 1]) + Int(coverage[index + area.width])
                    + Int(coverage[index + area.width + 1])
                unsafe Self.blend(&part.u[row * part.uStride + column], color.u, sum / 4)
                unsafe Self.blend(&part.v[row * part.vStride + column], color.v, sum / 4)
            }
        }
    }

    private static func blend(_ sample: inout UInt8, _ color: UInt8, _ amount: Int) {
        sample = UInt8((Int(sample) * (255 - amount) + Int(color) * amount + 127) / 255)
    }
}
