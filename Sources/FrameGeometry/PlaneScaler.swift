internal import CLibSWScale

/// Scales one component's plane, rows top-down as they come, straight into the intake picture.
///
/// Owns a libswscale context for 8-bit grey and keeps it while the sizes do not change. libswscale carries its
/// vertical filter from one run of rows to the next, so the result does not depend on how the plane was cut into
/// bands. Shrinking averages areas, enlarging is bilinear: neither rings nor leaves the range of the samples. Grey is
/// one component to libswscale, of the same range on both sides, so that no range or matrix is converted behind our
/// back, and the centres of the two planes coincide.
@safe final class PlaneScaler {
    /// Above this ratio libswscale 6 falls back to a chain of scalers that crashes when it is fed in runs; what is
    /// larger is thinned out first.
    private static let greatestRatio = 64

    private var context: OpaquePointer?
    private var from = PlaneSize(width: 0, height: 0)
    private var to = PlaneSize(width: 0, height: 0)
    /// Only every `columnStep`th column and `rowStep`th row is used: 1 up to `greatestRatio`.
    private var columnStep = 1
    private var rowStep = 1
    /// One row of thinned out columns.
    private let thinnedRow: UnsafeMutablePointer<UInt8>

    init() {
        unsafe thinnedRow = .allocate(capacity: GeometryPlan.greatestDimension)
    }

    deinit {
        unsafe sws_freeContext(context)
        unsafe thinnedRow.deallocate()
    }

    /// An upper bound, fitted to what contexts of 600 pairs of sizes allocate: tables for each row and column of both
    /// planes, and the rows that the vertical filter keeps.
    static func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        let keptRows = max(1, min(greatestRatio, (from.height + to.height - 1) / to.height))
        let context = 96 << 10 + 12 * from.width + 48 * from.height + (80 + 10 * keptRows) * to.width + 64 * to.height
        return context + GeometryPlan.greatestDimension
    }

    /// No step is needed at all.
    var isIdentity: Bool { from == to }

    /// Prepares for planes of these sizes; allocates only where they are new. Throws where libswscale refuses.
    func configure(from: PlaneSize, to: PlaneSize) throws(GeometryError) {
        guard from != self.from || to != self.to else { return }
        unsafe sws_freeContext(context)
        unsafe context = nil
        (self.from, self.to) = (from, to)
        guard from != to else { return }
        (columnStep, rowStep) = (Self.step(from.width, to.width), Self.step(from.height, to.height))
        unsafe context = sws_getContext(
            CInt(thinned(from.width, columnStep)), CInt(thinned(from.height, rowStep)), AV_PIX_FMT_GRAY8,
            CInt(to.width), CInt(to.height), AV_PIX_FMT_GRAY8, SWS_AREA | SWS_ACCURATE_RND, nil, nil, nil)
        guard unsafe context != nil else {
            self.from = PlaneSize(width: 0, height: 0)
            throw refused(from, to)
        }
    }

    /// Takes rows `firstRow..<firstRow + rowCount` of the source plane; row 0 starts a new plane. Up to 16 bytes after
    /// the last sample may be read (and are not used) where a row has less than 256 samples.
    func feed(
        _ source: UnsafePointer<UInt8>, stride: Int, firstRow: Int, rowCount: Int,
        into destination: UnsafeMutablePointer<UInt8>, destinationStride: Int
    ) throws(GeometryError) {
        // The first row at or after `firstRow` that is used, and how many are.
        let skipped = thinned(firstRow, rowStep) * rowStep - firstRow
        let count = thinned(rowCount - skipped, rowStep)
        guard count > 0 else { return }
        let first = (firstRow + skipped) / rowStep
        let rows = unsafe source + skipped * stride
        if columnStep == 1 {
            unsafe try pass(rows, stride * rowStep, first, count, destination, destinationStride)
        } else {
            let width = thinned(from.width, columnStep)
            for row in 0..<count {
                let samples = unsafe rows + row * rowStep * stride
                for column in 0..<width {
                    unsafe thinnedRow[column] = samples[column &* columnStep]
                }
                unsafe try pass(thinnedRow, width, first + row, 1, destination, destinationStride)
            }
        }
    }

    private func pass(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ firstRow: Int, _ rowCount: Int,
        _ destination: UnsafeMutablePointer<UInt8>, _ destinationStride: Int
    ) throws(GeometryError) {
        let written = unsafe upcast_sws_scale_plane(
            context, source, CInt(stride), CInt(firstRow), CInt(rowCount), destination, CInt(destinationStride))
        guard written >= 0 else { throw refused(from, to) }
    }

    private static func step(_ from: Int, _ to: Int) -> Int {
        var step = 1
        while from > greatestRatio * step * to { step *= 2 }
        return step
    }

    private func thinned(_ count: Int, _ step: Int) -> Int { (count + step - 1) / step }

    private func refused(_ from: PlaneSize, _ to: PlaneSize) -> GeometryError {
        .scalerRefused(sourceWidth: from.width, sourceHeight: from.height, width: to.width, height: to.height)
    }
}
