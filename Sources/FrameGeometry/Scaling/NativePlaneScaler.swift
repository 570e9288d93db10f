internal import CLibYUV
internal import CPlanes
internal import MediaCore

/// Scales and turns one component's plane with our own kernels.
///
/// Scaling is bicubic (`BicubicTable`). Vertical scaling works on whole rows, which is vector arithmetic for any ratio.
/// Rows that later rows of the picture need again are kept in a ring. For a quarter turn, 64 finished rows form a
/// strip. The strip's rows become columns, which are scaled in the same way, so the turn costs no extra work. Without a
/// quarter turn, a finished row is scaled along itself, and mirrored if needed, on processors that support it
/// (`RowTable`). On other processors it also goes into a strip, whose columns become rows again. Both ways give the
/// same samples. Vertical mirroring only changes the order in which rows are stored.
///
/// Owns the strip and the tables, which are re-created when the sizes change, and shares a `StripWorkspace`. The
/// samples are the same with and without AVX2.
@safe final class NativePlaneScaler: PlaneScaler {
    private let workspace: StripWorkspace
    private let usesAVX2: Bool
    private var transform = UprightTransform.identity
    private var from = PlaneSize(width: 0, height: 0)
    private var to = PlaneSize(width: 0, height: 0)
    /// The vertical scaling: from arriving rows to finished rows.
    private var rows = BicubicTable.none
    /// The horizontal scaling.
    private var columns = BicubicTable.none
    /// The horizontal scaling in one step, if that is possible.
    private var alongRows = RowTable()
    private var strip = GrowingBuffer<UInt8>()
    /// Rows that arrived in earlier bands and are still needed; each at the place of its number modulo `ringRows`.
    private var ring = GrowingBuffer<UInt8>()
    private var ringRows = 1
    /// The rows of the sum that is computed.
    private let summands: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    private var nextRow = 0
    /// Rows from here on are not computed.
    private var endRow = 0

    private static let stripRows = upcast_strip_width

    /// - Parameter usesAVX2: true only if the processor has AVX2.
    init(workspace: StripWorkspace, usesAVX2: Bool) {
        self.workspace = workspace
        self.usesAVX2 = usesAVX2
        unsafe summands = .allocate(capacity: BicubicTable.greatestCount)
        unsafe summands.initialize(repeating: nil, count: BicubicTable.greatestCount)
    }

    deinit { unsafe summands.deallocate() }

    /// The maximum memory in bytes of a scaler for planes of at most these sizes, whichever way they are turned;
    /// without the workspace.
    static func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        let longest = max(to.width, to.height)
        let width = StripWorkspace.wholeStrips(min(from.width, BicubicTable.greatestRatio * longest))
        let tables = [from.width, from.height].reduce(0) { sum, length in
            sum + BicubicTable.memoryBytes(from: length, to: longest)
        }
        return (stripRows + BicubicTable.greatestCount) * width + tables + RowTable.memoryBytes(to: longest)
    }

    private(set) var isIdentity = true

    func configure(from: PlaneSize, to: PlaneSize, transform: UprightTransform) {
        guard from != self.from || to != self.to || transform != self.transform else { return }
        (self.from, self.to, self.transform) = (from, to, transform)
        isIdentity = from == to && transform == .identity
        let stored = transform.stored(to.width, to.height)
        if (rows.from, rows.to) != (from.height, stored.height) {
            rows = BicubicTable(from: from.height, to: stored.height)
        }
        if (columns.from, columns.to) != (from.width, stored.width) {
            columns = BicubicTable(from: from.width, to: stored.width)
        }
        alongRows.configure(usesAVX2 && isStraight && !isDirect ? columns : nil, mirrored: reversesColumns)
        let width = StripWorkspace.wholeStrips(from.width)
        strip.reserve(Self.stripRows * width)
        ringRows = max(1, rows.greatestCount)
        ring.reserve(ringRows * width)
        workspace.reserve(from: from, to: to)
    }

    // MARK: Parts of a plane

    /// The minimum number of rows that are computed together: whole strips, of luma for two strips of chroma.
    private static let wholeRows = 16

    /// Begins a new plane. `rows` are the stored rows to compute: all rows, or a range from `widened`.
    func start(_ rows: Range<Int>) {
        nextRow = rows.lowerBound
        endRow = min(rows.upperBound, self.rows.to)
    }

    /// The stored rows that depend on `source`, which has at least one row.
    func made(of source: Range<Int>) -> Range<Int> {
        func first(where isBehind: (Int, Int) -> Bool) -> Int {
            var (low, high) = (0, rows.to)
            while low < high {
                let middle = (low + high) / 2
                let taps = rows.taps[middle]
                if isBehind(Int(taps.first), Int(taps.first + taps.count)) { high = middle } else { low = middle + 1 }
            }
            return low
        }
        let begin = first { _, end in end > source.lowerBound }
        return begin..<max(begin, first { start, _ in start >= source.upperBound })
    }

    /// The source's rows that stored rows depend on.
    func needed(for made: Range<Int>) -> Range<Int> {
        let made = made.clamped(to: 0..<rows.to)
        guard let last = made.last else { return 0..<0 }
        let (first, end) = (rows.taps[made.lowerBound].first, rows.taps[last].first + rows.taps[last].count)
        return Int(first)..<Int(end)
    }

    /// The minimum number of luma rows that are computed together, for the scaler of luma and of chroma.
    var unit: Int { isDirect || alongRows.isUsable ? Self.wholeRows : 2 * Self.stripRows }

    /// Luma rows, widened to whole units.
    func widened(_ made: Range<Int>, to unit: Int) -> Range<Int> {
        // With a quarter turn, a strip of the picture is one of its columns.
        let isReversed = !isStraight && reversesRows
        let range = isReversed ? rows.to - made.upperBound..<rows.to - made.lowerBound : made
        let begin = range.lowerBound / unit * unit
        let end = min(rows.to, (range.upperBound + unit - 1) / unit * unit)
        return isReversed ? rows.to - end..<rows.to - begin : begin..<end
    }

    /// The part of the upright plane that these stored rows fill.
    func part(_ stored: Range<Int>) -> PixelRect {
        let places = reversesRows ? rows.to - stored.upperBound..<rows.to - stored.lowerBound : stored
        return isStraight
            ? PixelRect(x: 0, y: places.lowerBound, width: to.width, height: places.count)
            : PixelRect(x: places.lowerBound, y: 0, width: places.count, height: to.height)
    }

    private var stripStride: Int { StripWorkspace.wholeStrips(from.width) }

    func feed(
        _ source: UnsafePointer<UInt8>, stride: Int, firstRow: Int, rowCount: Int, into plane: ComponentRows
    ) {
        // Once for all rows, because each access to an array counts references.
        unsafe rows.taps.withUnsafeBufferPointer { taps in
            unsafe rows.weights.withUnsafeBufferPointer { weights in
                unsafe feed(source, stride, firstRow..<firstRow + rowCount, plane, taps, weights)
            }
        }
    }

    private func feed(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ arrived: Range<Int>, _ plane: ComponentRows,
        _ allTaps: UnsafeBufferPointer<upcast_taps>, _ weights: UnsafeBufferPointer<Int8>
    ) {
        let (isIdentity, goesAlong) = (rows.isIdentity, alongRows.isUsable)
        while nextRow < endRow {
            let taps = unsafe allTaps[nextRow]
            let needed = Int(taps.first)..<Int(taps.first + taps.count)
            guard needed.upperBound <= arrived.upperBound else {
                return unsafe keep(needed.lowerBound, source, stride, arrived)
            }
            if isIdentity, goesAlong {
                unsafe alongRows.scale(source + (nextRow - arrived.lowerBound) * stride, into: pictureRow(plane))
                nextRow += 1
                continue
            }
            let out = unsafe target(plane)
            if isIdentity {
                unsafe out.update(from: source + (nextRow - arrived.lowerBound) * stride, count: from.width)
            } else {
                for row in needed {
                    let isKept = row < arrived.lowerBound
                    unsafe summands[row - needed.lowerBound] =
                        isKept ? UnsafePointer(kept(row)) : source + (row - arrived.lowerBound) * stride
                }
                unsafe upcast_filter_rows(
                    usesAVX2 ? 1 : 0, summands, weights.baseAddress! + Int(taps.weights), taps.count, out,
                    CInt(from.width))
            }
            unsafe completeRow(plane)
            nextRow += 1
        }
    }

    /// Copies the arrived rows from `first` on, which rows of the picture that follow need.
    private func keep(_ first: Int, _ source: UnsafePointer<UInt8>, _ stride: Int, _ arrived: Range<Int>) {
        for row in arrived where row >= first {
            unsafe kept(row).update(from: source + (row - arrived.lowerBound) * stride, count: from.width)
        }
    }

    private func kept(_ row: Int) -> UnsafeMutablePointer<UInt8> { unsafe ring.start + row % ringRows * stripStride }

    // MARK: Where a row goes

    private var isStraight: Bool { !transform.swapsAxes }
    private var reversesColumns: Bool { transform.reversesColumns }
    private var reversesRows: Bool { transform.reversesRows }
    /// A finished row is a row of the picture.
    private var isDirect: Bool { isStraight && columns.isIdentity && !reversesColumns }

    /// The row (or, with a quarter turn, the column) of the picture for a stored row.
    private func place(_ row: Int) -> Int { reversesRows ? rows.to - 1 - row : row }

    private func target(_ plane: ComponentRows) -> UnsafeMutablePointer<UInt8> {
        if isDirect { return unsafe pictureRow(plane) }
        if alongRows.isUsable { return unsafe strip.start }
        let index = isStraight ? nextRow : place(nextRow)
        return unsafe strip.start + index % Self.stripRows * stripStride
    }

    /// The place of the next row in a picture without a quarter turn.
    private func pictureRow(_ plane: ComponentRows) -> UnsafeMutablePointer<UInt8> {
        unsafe plane.samples + place(nextRow) * plane.stride
    }

    private func completeRow(_ plane: ComponentRows) {
        if isDirect { return }
        if alongRows.isUsable { return unsafe alongRows.scale(strip.start, into: pictureRow(plane)) }
        let isLast = nextRow == rows.to - 1
        let inStrip = (isStraight ? nextRow : place(nextRow)) % Self.stripRows
        if !isStraight {
            let isComplete = reversesRows ? inStrip == 0 : inStrip == Self.stripRows - 1 || isLast
            if isComplete { unsafe turnStrip(firstColumn: place(nextRow) / Self.stripRows * Self.stripRows, plane) }
        } else if inStrip == Self.stripRows - 1 || isLast {
            unsafe scaleStrip(firstRow: nextRow - inStrip, count: inStrip + 1, plane)
        }
    }

    /// Turns the strip's rows into columns of the picture.
    private func turnStrip(firstColumn: Int, _ plane: ComponentRows) {
        let top = reversesColumns ? to.height - 1 : 0
        let step = unsafe reversesColumns ? -plane.stride : plane.stride
        let out = unsafe plane.samples + top * plane.stride + firstColumn
        let count = min(Self.stripRows, to.width - firstColumn)
        if columns.isIdentity { return unsafe transpose(strip.start, stripStride, from.width, count, out, step) }
        unsafe transpose(strip.start, stripStride, from.width, Self.stripRows, workspace.turned.start, Self.stripRows)
        unsafe scaleColumns(workspace.turned.start, count, out, step)
    }

    /// Scales the strip's rows horizontally by transposing them twice, and stores them as rows of the picture.
    private func scaleStrip(firstRow: Int, count: Int, _ plane: ComponentRows) {
        let step = unsafe reversesRows ? -plane.stride : plane.stride
        let out = unsafe plane.samples + place(firstRow) * plane.stride
        if columns.isIdentity {
            return unsafe MirrorPlane(
                strip.start, CInt(stripStride), out, CInt(step), CInt(from.width), CInt(count))
        }
        unsafe transpose(strip.start, stripStride, from.width, Self.stripRows, workspace.turned.start, Self.stripRows)
        let (top, backStep) = reversesColumns ? (to.width - 1, -Self.stripRows) : (0, Self.stripRows)
        unsafe scaleColumns(
            workspace.turned.start, Self.stripRows, workspace.scaled.start + top * Self.stripRows, backStep)
        unsafe transpose(workspace.scaled.start, Self.stripRows, count, to.width, out, step)
    }

    private func scaleColumns(
        _ turned: UnsafePointer<UInt8>, _ width: Int, _ out: UnsafeMutablePointer<UInt8>, _ step: Int
    ) {
        unsafe columns.taps.withUnsafeBufferPointer { taps in
            unsafe columns.weights.withUnsafeBufferPointer { weights in
                unsafe upcast_filter_strip(
                    usesAVX2 ? 1 : 0, turned, CInt(width), taps.baseAddress!, weights.baseAddress!, CInt(columns.to),
                    out, step)
            }
        }
    }

    private func transpose(
        _ plane: UnsafePointer<UInt8>, _ stride: Int, _ columns: Int, _ rows: Int,
        _ out: UnsafeMutablePointer<UInt8>, _ outStride: Int
    ) {
        unsafe upcast_transpose(usesAVX2 ? 1 : 0, plane, stride, CInt(columns), CInt(rows), out, outStride)
    }
}
