package import MediaCore

/// How an upright picture is stored under an orientation tag. It is derived from the TIFF/EXIF text, and not from the
/// product's table of transforms.
package enum StoredOrientation {
    private enum Side { case top, bottom, left, right }

    /// EXIF 2.32, tag 274: the sides of the scene that row 0 and column 0 of the stored picture show.
    private static func sides(exif tag: Int) -> (row0: Side, column0: Side) {
        switch tag {
        case 2: (.top, .right)
        case 3: (.bottom, .right)
        case 4: (.bottom, .left)
        case 5: (.left, .top)
        case 6: (.right, .top)
        case 7: (.right, .bottom)
        case 8: (.left, .bottom)
        default: (.top, .left)
        }
    }

    /// The practice with RPVideoSampleOrientationKey: quarter turns go the other way round.
    private static func exifValue(of tag: OrientationTag, in convention: OrientationConvention) -> Int {
        guard convention == .replayKit else { return Int(tag.rawValue) }
        return switch tag.rawValue {
        case 5: 7
        case 6: 8
        case 7: 5
        case 8: 6
        case let other: Int(other)
        }
    }

    /// The pixels that a client with this tag and convention would send so that viewers see `upright`.
    package static func store(
        _ upright: RGBImage, tag: OrientationTag, convention: OrientationConvention
    ) -> RGBImage {
        let (row0, column0) = sides(exif: exifValue(of: tag, in: convention))
        let turned = row0 == .left || row0 == .right
        let (width, height) = turned ? (upright.height, upright.width) : (upright.width, upright.height)
        var stored = RGBImage(width: width, height: height)
        upright.pixels.withUnsafeBufferPointer { sourceBuffer in
            stored.pixels.withUnsafeMutableBufferPointer { targetBuffer in
                let (source, target) = (sourceBuffer.baseAddress!, targetBuffer.baseAddress!)
                var row = 0
                while row < height {
                    var column = 0
                    while column < width {
                        let (along, across) = (turned ? row : column, turned ? column : row)
                        let fromRight = turned ? row0 == .right : column0 == .right
                        let fromBottom = turned ? column0 == .bottom : row0 == .bottom
                        let x = fromRight ? upright.width - 1 - along : along
                        let y = fromBottom ? upright.height - 1 - across : across
                        let from = source + (y * upright.width + x) * 3
                        let to = target + (row * width + column) * 3
                        to[0] = from[0]
                        to[1] = from[1]
                        to[2] = from[2]
                        column += 1
                    }
                    row += 1
                }
            }
        }
        return stored
    }
}
