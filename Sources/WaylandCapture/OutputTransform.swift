package import UpcastClient

/// How a compositor turns the content of an output (wl_output.transform). Its pictures are stored turned. Pure.
package enum OutputTransform: Int, CaseIterable, Sendable {
    case normal = 0
    case quarter, half, threeQuarters
    case flipped, flippedQuarter, flippedHalf, flippedThreeQuarters

    /// How to turn a picture of the output upright, in the convention `exif`.
    ///
    /// - Parameter isUpsideDown: whether rows are stored from bottom to top, as some graphics cards read them.
    package func orientation(isUpsideDown: Bool = false) -> CaptureOrientation {
        let orientation: CaptureOrientation =
            switch self {
            case .normal: .up
            case .quarter: .right
            case .half: .down
            case .threeQuarters: .left
            case .flipped: .upMirrored
            case .flippedQuarter: .leftMirrored
            case .flippedHalf: .downMirrored
            case .flippedThreeQuarters: .rightMirrored
            }
        return isUpsideDown ? orientation.ofRowsReversed : orientation
    }
}

extension CaptureOrientation {
    /// The orientation of the same picture with its rows stored in reverse. The rows are put in order first, and then
    /// the picture is turned.
    fileprivate var ofRowsReversed: Self {
        switch self {
        case .up: .downMirrored
        case .downMirrored: .up
        case .upMirrored: .down
        case .down: .upMirrored
        case .leftMirrored: .right
        case .right: .leftMirrored
        case .rightMirrored: .left
        case .left: .rightMirrored
        }
    }
}

extension OutputTransform {
    /// Whether an upright picture is as wide as a stored one is high.
    package var exchangesSides: Bool { rawValue % 2 == 1 }

    /// Where a part of an upright picture lies in the stored one.
    ///
    /// - Parameters:
    ///   - width, height: of the upright picture.
    ///   - isUpsideDown: whether rows are stored from bottom to top.
    func stored(_ part: CaptureRectangle, width: Int, height: Int, isUpsideDown: Bool) -> CaptureRectangle {
        var (part, width, height) = (part, width, height)
        if rawValue >= Self.flipped.rawValue { part.x = width - part.x - part.width }
        // Counter-clockwise: the right edge becomes the upper one.
        for _ in 0..<rawValue % 4 {
            part = CaptureRectangle(
                x: part.y, y: width - part.x - part.width, width: part.height, height: part.width)
            swap(&width, &height)
        }
        if isUpsideDown { part.y = height - part.y - part.height }
        return part
    }
}
