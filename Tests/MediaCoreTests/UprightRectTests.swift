import MediaCore
import Testing

@Suite struct UprightRectTests {
    /// Of a picture of 7 x 5, the pixel at (x, y), by what the transform's own words say.
    private func upright(_ transform: UprightTransform, _ x: Int, _ y: Int) -> (Int, Int) {
        let (width, height) = (7, 5)
        return switch transform {
        case .identity: (x, y)
        case .mirrorHorizontal: (width - 1 - x, y)
        case .rotate180: (width - 1 - x, height - 1 - y)
        case .mirrorVertical: (x, height - 1 - y)
        case .transpose: (y, x)
        case .rotate90Clockwise: (height - 1 - y, x)
        case .transverse: (height - 1 - y, width - 1 - x)
        case .rotate270Clockwise: (y, width - 1 - x)
        }
    }

    @Test(arguments: UprightTransform.allCases) func pixelsGoWhereTheyGo(transform: UprightTransform) {
        for y in 0..<5 {
            for x in 0..<7 {
                let stored = RectEdges(
                    left: Double(x), top: Double(y), right: Double(x + 1), bottom: Double(y + 1))
                let (column, row) = upright(transform, x, y)
                let expected = RectEdges(
                    left: Double(column), top: Double(row), right: Double(column + 1), bottom: Double(row + 1))
                #expect(transform.upright(stored, width: 7, height: 5) == expected)
                #expect(transform.stored(expected, width: 7, height: 5) == stored)
            }
        }
    }
}
