/// The transform that makes a stored picture upright: one of the eight symmetries of a rectangle.
///
/// Inside the daemon there is one convention, this one: *what is done to the pixels*. What a client's tag means is
/// decided once, at the edge, by `OrientationConvention`.
package enum UprightTransform: UInt8, CaseIterable, Sendable {
    case identity
    case mirrorHorizontal
    case rotate180
    case mirrorVertical
    /// Rows become columns: the pixel at (x, y) goes to (y, x).
    case transpose
    case rotate90Clockwise
    /// The pixel at (x, y) goes to (height - 1 - y, width - 1 - x).
    case transverse
    case rotate270Clockwise

    /// True where width and height change places.
    package var swapsAxes: Bool {
        switch self {
        case .identity, .mirrorHorizontal, .rotate180, .mirrorVertical: false
        case .transpose, .rotate90Clockwise, .transverse, .rotate270Clockwise: true
        }
    }
}

/// An orientation tag as it stands on the wire: CGImagePropertyOrientation's values, which are EXIF's.
package enum OrientationTag: UInt8, CaseIterable, Sendable {
    case up = 1
    case upMirrored = 2
    case down = 3
    case downMirrored = 4
    case leftMirrored = 5
    case right = 6
    case rightMirrored = 7
    case left = 8
}

/// What a client means by an orientation tag. Two meanings are in use, and they differ in the quarter turns.
package enum OrientationConvention: UInt8, CaseIterable, Sendable {
    /// CGImagePropertyOrientation of a stored picture (TIFF/EXIF tag 274): `right` (6) is made upright by a turn of 90
    /// degrees clockwise, `left` (8) by 90 degrees counter-clockwise.
    case exif = 1
    /// RPVideoSampleOrientationKey as ReplayKit uses it: the same numbers with left and right the other way round, so
    /// `left` (8) is made upright by a turn of 90 degrees clockwise and `right` (6) by 270.
    case replayKit = 2

    /// The transform that makes a picture with `tag` upright.
    package func uprightTransform(for tag: OrientationTag) -> UprightTransform {
        let exif: OrientationTag =
            switch (self, tag) {
            case (.exif, _): tag
            case (.replayKit, .left): .right
            case (.replayKit, .right): .left
            case (.replayKit, .leftMirrored): .rightMirrored
            case (.replayKit, .rightMirrored): .leftMirrored
            case (.replayKit, _): tag
            }
        return switch exif {
        case .up: .identity
        case .upMirrored: .mirrorHorizontal
        case .down: .rotate180
        case .downMirrored: .mirrorVertical
        case .leftMirrored: .transpose
        case .right: .rotate90Clockwise
        case .rightMirrored: .transverse
        case .left: .rotate270Clockwise
        }
    }
}
