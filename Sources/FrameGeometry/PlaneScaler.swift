internal import MediaCore

/// Scales and turns one component's plane, rows top-down as they come, straight into the upright picture.
///
/// Belongs to one thread at a time. Allocates only in `configure`, and only where more is needed than ever before. The
/// result does not depend on how the plane was cut into runs of rows.
protocol PlaneScaler: AnyObject {
    /// Nothing has to be done at all.
    var isIdentity: Bool { get }

    /// Prepares for planes of `from` that become `to`, which is upright.
    func configure(from: PlaneSize, to: PlaneSize, transform: UprightTransform)

    /// The next rows that are fed are of a new plane, of which these stored rows are made: all of them, or, where the
    /// scaler is a `NativePlaneScaler`, whole strips.
    func start(_ rows: Range<Int>)

    /// Takes rows `firstRow..<firstRow + rowCount` of the source plane, behind those of the last call since `start`. Up
    /// to 64 bytes after the last sample are read, and not used.
    func feed(
        _ source: UnsafePointer<UInt8>, stride: Int, firstRow: Int, rowCount: Int, into plane: ComponentRows)
}

/// The order in which a stored picture's rows and columns become those of the upright one.
extension UprightTransform {
    /// The stored picture's columns, as they lie, run against the upright picture's columns (or rows, if turned).
    var reversesColumns: Bool {
        switch self {
        case .mirrorHorizontal, .rotate180, .rotate270Clockwise, .transverse: true
        case .identity, .mirrorVertical, .rotate90Clockwise, .transpose: false
        }
    }

    /// The same of its rows.
    var reversesRows: Bool {
        switch self {
        case .mirrorVertical, .rotate180, .rotate90Clockwise, .transverse: true
        case .identity, .mirrorHorizontal, .rotate270Clockwise, .transpose: false
        }
    }
}
