/// The transform that turns a stored picture upright: one of the eight symmetries of a rectangle.
///
/// The daemon's code uses only this convention: *what is done to the pixels*. `OrientationConvention` translates a
/// client's tag once, at ingest.
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

    /// Whether width and height are exchanged.
    package var swapsAxes: Bool {
        switch self {
        case .identity, .mirrorHorizontal, .rotate180, .mirrorVertical: false
        case .transpose, .rotate90Clockwise, .transverse, .rotate270Clockwise: true
        }
    }
}

/// An orientation tag of the protocol, with the values of CGImagePropertyOrientation, which are EXIF's.
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

/// The meaning of a client's orientation tags. Two meanings are in use; they differ in the quarter turns.
package enum OrientationConvention: UInt8, CaseIterable, Sendable {
    /// CGImagePropertyOrientation of a stored picture (TIFF/EXIF tag 274). `right` (6) needs a turn of 90 degrees
    /// clockwise, `left` (8) of 90 degrees counter-clockwise.
    case exif = 1
    /// RPVideoSampleOrientationKey as ReplayKit uses it: the same numbers with left and right exchanged. `left` (8)
    /// needs a turn of 90 degrees clockwise, `right` (6) of 270.
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
