package import UpcastClient

/// How a compositor turns what it shows on an output (wl_output.transform). Its pictures are stored turned. Pure.
package enum OutputTransform: Int, CaseIterable, Sendable {
    case normal = 0
    case quarter, half, threeQuarters
    case flipped, flippedQuarter, flippedHalf, flippedThreeQuarters

    /// How a picture of the output has to be turned to be upright, in the convention `exif`.
    ///
    /// - Parameter isUpsideDown: its rows are stored from the lowest to the highest, as some graphics cards read them.
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
    /// Of the same picture with its rows stored in the other order: these are put in order first, and then turned.
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
}
