import LinuxSystem

/// The upright test picture. None of the eight turns and mirrorings maps it or its central third to itself. Its
/// saturated colours reveal exchanged chroma planes, and wrong matrices and ranges.
///
/// It shows a number as dark and bright cells near its centre. By this number, a decoded frame tells which sample it
/// shows.
package struct ReferencePicture: Sendable {
    package let image: RGBImage

    package init(width: Int, height: Int, number: UInt8) {
        var image = Self.unnumbered(width: width, height: height)
        MarkerCells.forEach(width: width, height: height) { cell, bit in
            let bright = (number >> UInt8(bit.index) & 1 == 1) != bit.isComplement
            let grey: Float = bright ? 0.88 : 0.12
            for y in cell.top..<cell.bottom {
                for x in cell.left..<cell.right { image[x, y] = RGB(grey, grey, grey) }
            }
        }
        self.image = image
    }

    // Drawing takes a while without optimisation, and every sample starts from the same picture.
    private static let drawn = Monitor<[[Int]: RGBImage]>([:])

    private static func unnumbered(width: Int, height: Int) -> RGBImage {
        drawn.withLock { cache in
            if let image = cache[[width, height]] { return image }
            let image = draw(width: width, height: height)
            cache[[width, height]] = image
            return image
        }
    }

    private static func draw(width: Int, height: Int) -> RGBImage {
        var image = RGBImage(width: width, height: height)
        for y in 0..<height {
            let v = (Float(y) + 0.5) / Float(height)
            for x in 0..<width {
                let u = (Float(x) + 0.5) / Float(width)
                image[x, y] = RGB(0.2 + 0.6 * u, 0.25 + 0.45 * v * (1 - 0.4 * u), 0.75 - 0.55 * v)
            }
        }
        for shape in shapes { shape.paint(on: &image) }
        return image
    }

    // Coordinates are in units of the shorter side, from the centre.
    private static let shapes: [Shape] = [
        // An F, which has no symmetry, in the part that remains even after a hard crop.
        .box(left: -0.42, top: -0.24, right: -0.34, bottom: 0.06, RGB(0.97, 0.97, 0.95)),
        .box(left: -0.34, top: -0.24, right: -0.16, bottom: -0.17, RGB(0.97, 0.97, 0.95)),
        .box(left: -0.34, top: -0.11, right: -0.22, bottom: -0.04, RGB(0.97, 0.97, 0.95)),
        .disk(x: 0.06, y: -0.14, radius: 0.09, RGB(0.92, 0.08, 0.1)),
        .box(left: 0.2, top: -0.22, right: 0.42, bottom: -0.12, RGB(0.08, 0.75, 0.15)),
        .disk(x: 0.3, y: 0, radius: 0.06, RGB(0.1, 0.15, 0.95)),
        // One mark in each quarter, with different colours and sizes, for the parts that only fit and stretch show.
        .disk(x: -0.25, y: -0.6, radius: 0.17, RGB(0.95, 0.85, 0.1)),
        .box(left: 0.1, top: -0.85, right: 0.4, bottom: -0.7, RGB(0.1, 0.85, 0.9)),
        .box(left: -0.45, top: 0.4, right: -0.1, bottom: 0.5, RGB(0.85, 0.1, 0.8)),
        .disk(x: 0.22, y: 0.62, radius: 0.1, RGB(0.05, 0.05, 0.05)),
        .box(left: -0.4, top: 0.62, right: -0.34, bottom: 0.95, RGB(1, 1, 1)),
    ]
}

/// The positions of the number's cells: eight, and below them their eight complements.
package enum MarkerCells {
    package struct Cell { package let left, top, right, bottom: Int }
    package struct Bit { package let index: Int, isComplement: Bool }

    private static let side = 0.07

    static func forEach(width: Int, height: Int, _ body: (Cell, Bit) -> Void) {
        let unit = Double(min(width, height))
        func x(_ value: Double) -> Int { Int((Double(width) / 2 + value * unit).rounded()) }
        func y(_ value: Double) -> Int { Int((Double(height) / 2 + value * unit).rounded()) }
        for row in 0..<2 {
            for column in 0..<8 {
                let (left, top) = (-4 * side + Double(column) * side, 0.11 + Double(row) * side)
                body(
                    Cell(left: x(left), top: y(top), right: x(left + side), bottom: y(top + side)),
                    Bit(index: column, isComplement: row == 1))
            }
        }
    }

    /// The number that a canvas shows; nil if the cells are missing or contradict their complements.
    package static func read(_ canvas: I420Image, placement: Placement) -> UInt8? {
        var (ones, complements) = (UInt8(0), UInt8(0))
        forEach(width: placement.sourceWidth, height: placement.sourceHeight) { cell, bit in
            let x = placement.canvasX(Double(cell.left + cell.right) / 2)
            let y = placement.canvasY(Double(cell.top + cell.bottom) / 2)
            let inside = x >= 0 && y >= 0 && Int(x) < canvas.width && Int(y) < canvas.height
            let bright = inside && canvas.meanLuma(x: Int(x), y: Int(y), radius: 1) > 125
            if bright {
                if bit.isComplement { complements |= 1 << UInt8(bit.index) } else { ones |= 1 << UInt8(bit.index) }
            }
        }
        return ones == ~complements ? ones : nil
    }
}

private enum Shape: Sendable {
    case disk(x: Float, y: Float, radius: Float, RGB)
    case box(left: Float, top: Float, right: Float, bottom: Float, RGB)

    func paint(on image: inout RGBImage) {
        let unit = Float(min(image.width, image.height))
        let (centreX, centreY) = (Float(image.width) / 2, Float(image.height) / 2)
        let bounds: (left: Float, top: Float, right: Float, bottom: Float)
        let color: RGB
        switch self {
        case .disk(let x, let y, let radius, let paint):
            bounds = (x - radius, y - radius, x + radius, y + radius)
            color = paint
        case .box(let left, let top, let right, let bottom, let paint):
            bounds = (left, top, right, bottom)
            color = paint
        }
        let firstX = max(0, Int(centreX + bounds.left * unit) - 1)
        let firstY = max(0, Int(centreY + bounds.top * unit) - 1)
        let endX = min(image.width, Int(centreX + bounds.right * unit) + 2)
        let endY = min(image.height, Int(centreY + bounds.bottom * unit) + 2)
        guard firstX < endX, firstY < endY else { return }
        for py in firstY..<endY {
            for px in firstX..<endX {
                let (x, y) = (Float(px) + 0.5 - centreX, Float(py) + 0.5 - centreY)
                // The distance inside the edge, in pixels. The edge fades over half a pixel on either side.
                let depth: Float
                switch self {
                case .disk(let cx, let cy, let radius, _):
                    let (dx, dy) = (x - cx * unit, y - cy * unit)
                    depth = radius * unit - (dx * dx + dy * dy).squareRoot()
                case .box(let left, let top, let right, let bottom, _):
                    depth = min(min(x - left * unit, right * unit - x), min(y - top * unit, bottom * unit - y))
                }
                let cover = max(0, min(1, depth + 0.5))
                guard cover > 0 else { continue }
                let below = image[px, py]
                image[px, py] = RGB(
                    below.red + (color.red - below.red) * cover, below.green + (color.green - below.green) * cover,
                    below.blue + (color.blue - below.blue) * cover)
            }
        }
    }
}
