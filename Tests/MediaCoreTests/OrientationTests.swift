import MediaCore
import Testing

@Suite struct OrientationTests {
    /// The tag says where the stored picture's top row and left column are when it is shown (TIFF 6.0, tag 274). Each
    /// transform is checked by where it puts the stored top-left and top-right corners.
    @Test(arguments: [
        (OrientationTag.up, 0, 1), (.upMirrored, 1, 0), (.down, 3, 2), (.downMirrored, 2, 3),
        (.leftMirrored, 0, 2), (.right, 1, 3), (.rightMirrored, 3, 1), (.left, 2, 0),
    ])
    func exifCorners(tag: OrientationTag, topLeftGoesTo: Int, topRightGoesTo: Int) {
        let transform = OrientationConvention.exif.uprightTransform(for: tag)
        #expect(corner(0, after: transform) == topLeftGoesTo)
        #expect(corner(1, after: transform) == topRightGoesTo)
    }

    @Test func replayKitSwapsOnlyTheQuarterTurns() {
        for tag in OrientationTag.allCases {
            let exif = OrientationConvention.exif.uprightTransform(for: tag)
            let replayKit = OrientationConvention.replayKit.uprightTransform(for: tag)
            #expect((exif == replayKit) == !exif.swapsAxes, "\(tag)")
        }
        #expect(OrientationConvention.replayKit.uprightTransform(for: .left) == .rotate90Clockwise)
        #expect(OrientationConvention.replayKit.uprightTransform(for: .right) == .rotate270Clockwise)
    }

    /// Corners: 0 top-left, 1 top-right, 2 bottom-left, 3 bottom-right.
    private func corner(_ index: Int, after transform: UprightTransform) -> Int {
        let (x, y) = (index & 1, index >> 1)
        let (nx, ny) =
            switch transform {
            case .identity: (x, y)
            case .mirrorHorizontal: (1 - x, y)
            case .rotate180: (1 - x, 1 - y)
            case .mirrorVertical: (x, 1 - y)
            case .transpose: (y, x)
            case .rotate90Clockwise: (1 - y, x)
            case .transverse: (1 - y, 1 - x)
            case .rotate270Clockwise: (y, 1 - x)
            }
        return nx + 2 * ny
    }
}
