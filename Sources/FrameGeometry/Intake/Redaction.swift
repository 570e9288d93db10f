internal import Glibc
internal import MediaCore

/// Paints over regions that must not be shown. It works on the source's samples before they are unpacked, scaled,
/// turned or converted, so the results contain nothing of them.
///
/// A rectangle is widened by `reach`, then to whole chroma samples. Chroma for two pixels is usually made of more than
/// two, because the capturing side filters it.
struct Redaction {
    /// Pixels in each direction, for a chroma filter of up to five taps.
    static let reach = 2

    private let regions: SecureRegions
    private let format: PixelFormat
    private let crop: PixelRect
    /// One element of each plane, in memory order.
    private let paint: (UInt32, UInt32, UInt32)

    /// - Parameter color: full-range RGB.
    init(_ regions: SecureRegions, color: (red: UInt8, green: UInt8, blue: UInt8), of plan: GeometryPlan) {
        self.regions = regions
        format = plan.source.pixelFormat
        crop = plan.crop
        var meaning = plan.source.color
        meaning.range = format.rangeOfName ?? meaning.range
        let converted = CanvasColor(red: color.red, green: color.green, blue: color.blue, color: meaning)
        paint = Self.elements(format, color, converted, meaning.range)
    }

    /// Whether rows of a plane need paint. Rows are counted from the crop's first row.
    func touches(plane: Int, rows: Range<Int>) -> Bool {
        if regions.coversAll { return true }
        return (0..<regions.count).contains { !self.rows(of: regions[$0], on: plane).clamped(to: rows).isEmpty }
    }

    /// Paints over rows of a plane.
    ///
    /// - Parameters:
    ///   - samples: the crop's first column in the first of the rows.
    ///   - firstRow: counted from the crop's first row.
    func paint(over samples: UnsafeMutableRawPointer, stride: Int, plane: Int, firstRow: Int, rowCount: Int) {
        let band = firstRow..<firstRow + rowCount
        if regions.coversAll {
            return unsafe fill(samples, stride, plane, rows: 0..<rowCount, columns: 0..<columnCount(plane))
        }
        for index in 0..<regions.count {
            let rows = rows(of: regions[index], on: plane).clamped(to: band)
            let columns = columns(of: regions[index], on: plane)
            guard !rows.isEmpty, !columns.isEmpty else { continue }
            unsafe fill(
                samples, stride, plane, rows: rows.lowerBound - firstRow..<rows.upperBound - firstRow,
                columns: columns)
        }
    }

    // MARK: Places

    private func columnCount(_ plane: Int) -> Int {
        let shape = format.plane(plane)
        return (crop.width + shape.widthDivisor - 1) / shape.widthDivisor
    }

    private func columns(of rectangle: SecureRegions.Rectangle, on plane: Int) -> Range<Int> {
        Self.elements(
            Int(rectangle.left)..<Int(rectangle.right), from: crop.x, count: crop.width,
            divisor: format.plane(plane).widthDivisor)
    }

    private func rows(of rectangle: SecureRegions.Rectangle, on plane: Int) -> Range<Int> {
        Self.elements(
            Int(rectangle.top)..<Int(rectangle.bottom), from: crop.y, count: crop.height,
            divisor: format.plane(plane).heightDivisor)
    }

    /// Converts pixels to elements of a plane that begins at `origin`, an even number, and has `count` pixels.
    private static func elements(_ pixels: Range<Int>, from origin: Int, count: Int, divisor: Int) -> Range<Int> {
        // Even coordinates are whole chroma samples in every format.
        let first = (pixels.lowerBound - reach) & ~1
        let end = (pixels.upperBound + reach + 1) & ~1
        let (from, to) = (max(0, first - origin), min(count, end - origin))
        guard from < to else { return 0..<0 }
        return from / divisor..<(to + divisor - 1) / divisor
    }

    // MARK: Colours

    private func fill(
        _ samples: UnsafeMutableRawPointer, _ stride: Int, _ plane: Int, rows: Range<Int>, columns: Range<Int>
    ) {
        let size = format.plane(plane).bytesPerElement
        let element = plane == 0 ? paint.0 : plane == 1 ? paint.1 : paint.2
        for row in rows {
            let start = unsafe samples + row * stride + columns.lowerBound * size
            switch size {
            case 1: unsafe memset(start, CInt(element & 0xFF), columns.count)
            case 2:
                let element = UInt16(truncatingIfNeeded: element)
                for index in 0..<columns.count {
                    unsafe start.storeBytes(of: element, toByteOffset: 2 * index, as: UInt16.self)
                }
            default:
                for index in 0..<columns.count {
                    unsafe start.storeBytes(of: element, toByteOffset: 4 * index, as: UInt32.self)
                }
            }
        }
    }

    /// One element of each plane. The first byte in memory is the lowest one, because the machine is little-endian.
    private static func elements(
        _ format: PixelFormat, _ rgb: (red: UInt8, green: UInt8, blue: UInt8), _ color: CanvasColor, _ range: ColorRange
    ) -> (UInt32, UInt32, UInt32) {
        func bytes(_ a: UInt8, _ b: UInt8 = 0, _ c: UInt8 = 0, _ d: UInt8 = 0) -> UInt32 {
            UInt32(a) | UInt32(b) << 8 | UInt32(c) << 16 | UInt32(d) << 24
        }
        let (y, cb, cr) = (color.y, color.u, color.v)
        switch format.layout {
        case .planar(_, let crFirst): return (bytes(y), bytes(crFirst ? cr : cb), bytes(crFirst ? cb : cr))
        case .pairs(_, let crFirst): return (bytes(y), crFirst ? bytes(cr, cb) : bytes(cb, cr), 0)
        // The eight bits are the upper ones of the ten bits, which are the upper ones of a 16-bit word.
        case .tenBitPairs: return (bytes(0, y), bytes(0, cb, 0, cr), 0)
        case .packed(let lumaFirst): return (lumaFirst ? bytes(y, cb, y, cr) : bytes(cb, y, cr, y), 0, 0)
        case .gray: return (bytes(y), 0, 0)
        case .rgb(let red, let blue):
            func byte(_ value: UInt8, at place: Int) -> UInt32 {
                // RGB itself may have video range.
                let value = range == .video ? 16 + (UInt32(value) * 219 + 127) / 255 : UInt32(value)
                return value << (8 * UInt32(place))
            }
            let green = (red + blue) / 2
            // The fourth byte is ignored, at any position.
            return (byte(rgb.red, at: red) | byte(rgb.green, at: green) | byte(rgb.blue, at: blue), 0, 0)
        }
    }
}
