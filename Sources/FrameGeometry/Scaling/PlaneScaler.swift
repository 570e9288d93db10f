internal import MediaCore

/// Scales and turns one component's plane. Rows arrive from top to bottom and go directly into the upright picture.
///
/// Used by one thread at a time. Allocates only in `configure`, and only if the sizes or the transform change. The
/// result does not depend on how the plane was divided into runs of rows.
protocol PlaneScaler: AnyObject {
    /// Whether the plane needs neither scaling nor turning.
    var isIdentity: Bool { get }

    /// Prepares for planes of size `from` that become upright planes of size `to`.
    func configure(from: PlaneSize, to: PlaneSize, transform: UprightTransform)

    /// Begins a new plane. `rows` are the stored rows to compute: all rows or, for a `NativePlaneScaler`, whole strips.
    func start(_ rows: Range<Int>)

    /// Takes rows `firstRow..<firstRow + rowCount` of the source plane, which follow those of the last call since
    /// `start`. Reads up to 64 bytes after the last sample, but does not use them.
    func feed(
        _ source: UnsafePointer<UInt8>, stride: Int, firstRow: Int, rowCount: Int, into plane: ComponentRows)
}

/// The order in which a stored picture's rows and columns become those of the upright picture.
extension UprightTransform {
    /// Whether the stored columns run against the upright picture's columns (or rows, with a quarter turn).
    var reversesColumns: Bool {
        switch self {
        case .mirrorHorizontal, .rotate180, .rotate270Clockwise, .transverse: true
        case .identity, .mirrorVertical, .rotate90Clockwise, .transpose: false
        }
    }

    /// Whether the stored rows run against the upright picture's rows (or columns, with a quarter turn).
    var reversesRows: Bool {
        switch self {
        case .mirrorVertical, .rotate180, .rotate90Clockwise, .transverse: true
        case .identity, .mirrorHorizontal, .rotate270Clockwise, .transpose: false
        }
    }
}
