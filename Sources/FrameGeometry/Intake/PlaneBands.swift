internal import MediaCore

/// A run of payload bytes that is read and processed together: some rows of one plane.
package struct Band: Equatable, Sendable {
    /// Bytes from the start of the payload.
    package let payloadOffset: Int
    /// Bytes from the first sample to the last one, including padding between rows.
    package let byteCount: Int
    /// The payload plane of the rows.
    package let plane: Int
    /// The first row, counted from the first row that is needed.
    package let firstRow: Int
    package let rowCount: Int
}

/// Divides the needed part of one plane into bands.
///
/// A band has at most `byteLimit` bytes and an even number of rows, because chroma may cover two rows. Only a plane's
/// last band may have an odd number. Rows and columns outside the crop are not read, nor is the padding after a band's
/// last row.
struct PlaneBands: Equatable {
    /// Leaves room in a core's second-level cache for the results.
    static let byteLimit = 128 << 10
    /// The same limit for the planes that a band is unpacked to before scaling.
    static let unpackedByteLimit = 160 << 10

    let plane: Int
    /// Bytes from the start of the payload to the first needed sample.
    let offset: Int
    let stride: Int
    /// Bytes of needed samples in a row.
    let rowBytes: Int
    let rows: Int
    let rowsPerBand: Int
    /// Whether two rows and the bytes between them exceed a band. If so, each row is a band, and rows are gathered in
    /// pairs.
    let isGathered: Bool

    init(_ plane: Int, of plan: GeometryPlan) {
        let shape = plan.source.pixelFormat.plane(plane)
        let location = plan.source.plane(plane)
        let crop = plan.crop
        self.plane = plane
        let firstRow = crop.y / shape.heightDivisor
        offset = location.offset + firstRow * location.stride + crop.x / shape.widthDivisor * shape.bytesPerElement
        stride = location.stride
        rowBytes = shape.rowBytes(pictureWidth: crop.width)
        rows = shape.rows(pictureHeight: crop.height)
        isGathered = stride + rowBytes > Self.byteLimit
        let fitting = (Self.byteLimit - rowBytes) / stride + 1
        // A band of the first plane is unpacked to luma, and to chroma if the format is packed; a band of the second
        // plane is unpacked to chroma.
        let luma = plane != 1 ? Self.unpackedStride(width: crop.width) : 0
        let chroma = plane == 1 || shape.bytesPerElement == 4 ? Self.unpackedStride(width: (crop.width + 1) / 2) : 0
        let unpackedFitting = Self.unpackedByteLimit / (luma + 2 * chroma)
        rowsPerBand = isGathered ? 1 : min(fitting, unpackedFitting) & ~1
    }

    /// The distance in bytes of unpacked rows of `width` samples. Rows start on 64-byte boundaries.
    static func unpackedStride(width: Int) -> Int { (width + 63) & ~63 }

    /// The band that starts at `row` and ends at `end` at the latest.
    func band(at row: Int, upTo end: Int) -> Band {
        let count = min(rowsPerBand, end - row)
        return Band(
            payloadOffset: offset + row * stride, byteCount: (count - 1) * stride + rowBytes,
            plane: plane, firstRow: row, rowCount: count)
    }
}

extension GeometryPlan {
    /// All bands of a sample, in ascending order of offset.
    package var bands: [Band] {
        (0..<source.pixelFormat.planeCount).flatMap { index in
            let plane = PlaneBands(index, of: self)
            return stride(from: 0, to: plane.rows, by: plane.rowsPerBand).map { plane.band(at: $0, upTo: plane.rows) }
        }
    }

    /// Throws if a plane's rows overlap, or if the planes overlap or are in the wrong order.
    func checkLayout() throws(GeometryError) {
        var end = 0
        for index in 0..<source.pixelFormat.planeCount {
            let location = source.plane(index)
            let leastStride = source.pixelFormat.plane(index).rowBytes(pictureWidth: source.width)
            let greatest = 1 << 40
            guard (leastStride...greatest).contains(location.stride), (end...greatest).contains(location.offset) else {
                throw GeometryError.badPlaneLayout(
                    plane: index, offset: location.offset, stride: location.stride, leastOffset: end,
                    leastStride: leastStride)
            }
            end = location.offset + source.planeBytes(index)
        }
    }
}
