internal import MediaCore

/// A rectangle in pixels.
struct PatternRect: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
}

/// A stored picture that is drawn in upright coordinates: it stores each rectangle of one colour where the transform
/// will read it. This works for all pixel formats, because such a rectangle repeats one element.
struct PatternCanvas {
    let format: VideoSampleFormat
    private(set) var bytes: [UInt8]
    /// The transform that turns the stored picture upright.
    var transform = UprightTransform.identity

    var uprightWidth: Int { transform.swapsAxes ? format.height : format.width }
    var uprightHeight: Int { transform.swapsAxes ? format.width : format.height }

    init(format: VideoSampleFormat) {
        self.format = format
        bytes = [UInt8](repeating: 0, count: format.minimumPayloadBytes)
    }

    /// Fills a rectangle in upright coordinates, clipped to the picture.
    mutating func fill(_ rect: PatternRect, _ color: PatternColor) {
        let left = max(0, rect.x)
        let top = max(0, rect.y)
        let right = min(uprightWidth, rect.x + rect.width)
        let bottom = min(uprightHeight, rect.y + rect.height)
        guard left < right, top < bottom else { return }
        let (columns, rows) = stored(left..<right, top..<bottom)
        for plane in 0..<format.pixelFormat.planeCount {
            fillPlane(plane, columns, rows, color.element(format.pixelFormat, plane: plane, format.color))
        }
    }

    /// Draws text with its upper left corner at (x, y). A dot has `scale` pixels, and a character is six dots wide.
    mutating func draw(_ text: String, x: Int, y: Int, scale: Int, _ color: PatternColor) {
        for (position, character) in text.enumerated() {
            for (row, dots) in BitmapFont.rows(of: character).enumerated() {
                for column in 0..<BitmapFont.width where dots >> (BitmapFont.width - 1 - column) & 1 == 1 {
                    let left = x + (position * (BitmapFont.width + 1) + column) * scale
                    fill(PatternRect(x: left, y: y + row * scale, width: scale, height: scale), color)
                }
            }
        }
    }

    /// Where the transform reads an upright rectangle in the stored picture. This is the inverse of `UprightTransform`,
    /// which maps stored pixels to upright ones.
    private func stored(_ x: Range<Int>, _ y: Range<Int>) -> (columns: Range<Int>, rows: Range<Int>) {
        let (width, height) = (format.width, format.height)
        func flipped(_ range: Range<Int>, _ size: Int) -> Range<Int> {
            (size - range.upperBound)..<(size - range.lowerBound)
        }
        return switch transform {
        case .identity: (x, y)
        case .mirrorHorizontal: (flipped(x, width), y)
        case .rotate180: (flipped(x, width), flipped(y, height))
        case .mirrorVertical: (x, flipped(y, height))
        case .transpose: (y, x)
        case .rotate90Clockwise: (y, flipped(x, height))
        case .transverse: (flipped(y, width), flipped(x, height))
        case .rotate270Clockwise: (flipped(y, width), x)
        }
    }

    private mutating func fillPlane(_ index: Int, _ columns: Range<Int>, _ rows: Range<Int>, _ element: UInt32) {
        let shape = format.pixelFormat.plane(index)
        let location = format.plane(index)
        let size = shape.bytesPerElement
        let firstColumn = columns.lowerBound / shape.widthDivisor
        let lastColumn = (columns.upperBound - 1) / shape.widthDivisor
        let firstRow = rows.lowerBound / shape.heightDivisor
        let lastRow = (rows.upperBound - 1) / shape.heightDivisor
        let rowBytes = (lastColumn - firstColumn + 1) * size
        unsafe bytes.withUnsafeMutableBytes { buffer in
            let first = location.offset + firstRow * location.stride + firstColumn * size
            let row = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[first..<(first + rowBytes)])
            for at in 0..<rowBytes { unsafe row[at] = UInt8(truncatingIfNeeded: element >> (8 * (at % size))) }
            for next in 0..<(lastRow - firstRow) {
                let at = first + (next + 1) * location.stride
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[at..<(at + rowBytes)])
                    .copyMemory(from: UnsafeRawBufferPointer(row))
            }
        }
    }
}
