internal import CLibYUV
internal import MediaCore

/// Scales and turns one component's plane with libyuv: scales whole rows, turns them, and scales rows again.
///
/// It uses only functions of libyuv that allocate nothing. `ScalePlane` allocates row buffers in each call except for a
/// few ratios. It also reads only two rows for each output row unless the plane keeps its width. So `InterpolatePlane`
/// adds up rows (`BlendTree`), and 64 finished rows form a strip. A few columns of the strip at a time are turned into
/// a tile that fits the first-level cache, and its rows are added up in the same way. With a quarter turn the result
/// goes directly into the picture, else into a second tile that is turned back. If both sides shrink to 1/2, 1/4 or
/// (without turning) 3/4, `ScalePlane` does both at once.
///
/// Weights are those of `AreaTable`; sums of many rows are rounded several times. Owns the strip, the tables and
/// incomplete rows, and shares a `TileWorkspace`.
@safe final class YUVPlaneScaler: PlaneScaler {
    private let workspace: TileWorkspace
    private var transform = UprightTransform.identity
    private var from = PlaneSize(width: 0, height: 0)
    private var to = PlaneSize(width: 0, height: 0)
    /// The vertical scaling: from arriving rows to finished rows.
    private var rows = AreaTable.none
    /// The horizontal scaling.
    private var columns = AreaTable.none
    /// The period of the weights of `columns`, and which outputs have the weights of the output one period before.
    private var period = 0
    private var repeats: [Bool] = []
    private var tile = (outputs: 0, rows: 0)
    /// Both sides shrink to `parts` / `of`.
    private var ratio: (parts: Int, of: Int)?

    private var strip = GrowingBuffer<UInt8>()
    private var lastRow = GrowingBuffer<UInt8>()
    /// Rows that wait until `ratio` has enough of them.
    private var group = GrowingBuffer<UInt8>()
    private var groupRows = 0
    private let tree = BlendTree()
    private var nextRow = 0
    /// The number of rows that have been added to the next row.
    private var addedRows = 0

    private static let stripRows = TileWorkspace.width
    private static let greatestGroup = 4

    private(set) var isIdentity = true

    init(workspace: TileWorkspace) { self.workspace = workspace }

    /// The memory in bytes of a scaler for planes of these sizes, whichever way they are turned; without the workspace.
    static func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        let width = StripWorkspace.wholeStrips(from.width)
        let longest = max(to.width, to.height)
        let tables = [from.width, from.height].reduce(0) { sum, length in
            sum + AreaTable.memoryBytes(from: length, to: longest)
        }
        return (stripRows + 1 + greatestGroup) * width + tables + longest
            + BlendTree.memoryBytes(greatestCount: greatestCount(from: from, to: to), rowBytes: width)
    }

    /// The maximum number of source samples for one sample. A picture that keeps its shape shrinks by the greater ratio
    /// of its sides. If it is so narrow that its width is rounded, it shrinks by up to half as much more.
    static func greatestCount(from: PlaneSize, to: PlaneSize) -> Int {
        2 * max(from.width, from.height) / max(1, min(to.width, to.height)) + 2
    }

    func configure(from: PlaneSize, to: PlaneSize, transform: UprightTransform) {
        guard from != self.from || to != self.to || transform != self.transform else { return }
        (self.from, self.to, self.transform) = (from, to, transform)
        isIdentity = from == to && transform == .identity
        let stored = transform.stored(to.width, to.height)
        ratio = Self.ratio(from, stored, transform: transform)
        let width = ratio == nil ? from.width : stored.width
        if (rows.from, rows.to) != (from.height, stored.height) {
            rows = AreaTable(from: from.height, to: stored.height)
        }
        if (columns.from, columns.to) != (width, stored.width) {
            columns = AreaTable(from: width, to: stored.width)
            (period, repeats) = columns.repetition
            tile = TileWorkspace.tile(for: columns)
        }
        if !isDirect {
            strip.reserve(Self.stripRows * StripWorkspace.wholeStrips(width))
            workspace.reserve(for: columns)
        }
        if let ratio {
            group.reserve(ratio.of * StripWorkspace.wholeStrips(from.width))
        } else {
            lastRow.reserve(from.width)
            tree.reserve(greatestCount: rows.greatestCount, rowBytes: StripWorkspace.wholeStrips(from.width))
        }
    }

    /// The ratios for which `ScalePlane` has special code that needs no memory. Its rows must not wait for a strip that
    /// holds no whole number of groups.
    static func ratio(
        _ from: PlaneSize, _ to: PlaneSize, transform: UprightTransform
    ) -> (parts: Int, of: Int)? {
        let isInPlace = !transform.swapsAxes && !transform.reversesColumns
        return [(parts: 1, of: 2), (1, 4), (3, 4)].first { ratio in
            from.width % ratio.of == 0 && from.height % ratio.of == 0
                && to.width * ratio.of == from.width * ratio.parts
                && to.height * ratio.of == from.height * ratio.parts && (ratio.parts == 1 || isInPlace)
        }
    }

    func start(_ rows: Range<Int>) {
        precondition(rows == 0..<self.rows.to, "a part of a plane")
        begin()
    }

    func feed(
        _ source: UnsafePointer<UInt8>, stride: Int, firstRow: Int, rowCount: Int, into plane: ComponentRows
    ) {
        if let ratio { return unsafe feedGroups(source, stride, rowCount, ratio, plane) }
        let end = firstRow + rowCount
        while nextRow < rows.to {
            let tap = rows.taps[nextRow]
            let (first, count) = (Int(tap.first), Int(tap.count))
            if addedRows == 0, first >= firstRow, first + count <= end {
                let out = unsafe isDirect ? pictureRow(nextRow, plane) : stripRow(nextRow)
                unsafe rows.weights.withUnsafeBufferPointer { weights in
                    unsafe BlendTree.sum(
                        BlendTree.Rows(first: source + (first - firstRow) * stride, step: stride, width: from.width),
                        weights: weights.baseAddress! + Int(tap.weights), taps: count, into: out, stride: 0,
                        in: tree.room)
                }
                nextRow += 1
                unsafe completeRows(plane)
                continue
            }
            while addedRows < count, first + addedRows < end {
                let row = first + addedRows
                let samples = unsafe row < firstRow ? UnsafePointer(lastRow.start) : source + (row - firstRow) * stride
                let weight = Int(rows.weights[Int(tap.weights) + addedRows])
                unsafe tree.add(samples, weight: weight, width: from.width)
                addedRows += 1
            }
            guard addedRows == count else { break }
            let out = unsafe isDirect ? pictureRow(nextRow, plane) : stripRow(nextRow)
            unsafe tree.finish(into: out, width: from.width)
            addedRows = 0
            nextRow += 1
            unsafe completeRows(plane)
        }
        tree.keep(width: from.width)
        if rows.enlarges {
            unsafe lastRow.start.update(from: source + (rowCount - 1) * stride, count: from.width)
        }
    }

    private func begin() {
        (nextRow, addedRows, groupRows) = (0, 0, 0)
        tree.forget()
    }

    // MARK: Both directions at once

    private func feedGroups(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ rowCount: Int, _ ratio: (parts: Int, of: Int),
        _ plane: ComponentRows
    ) {
        let groupStride = StripWorkspace.wholeStrips(from.width)
        var taken = 0
        func collect(_ count: Int) {
            for _ in 0..<count {
                let row = unsafe group.start + groupRows * groupStride
                unsafe row.update(from: source + taken * stride, count: from.width)
                groupRows += 1
                taken += 1
            }
        }
        if groupRows > 0 {
            collect(min(ratio.of - groupRows, rowCount))
            guard groupRows == ratio.of else { return }
            unsafe scaleGroups(UnsafePointer(group.start), groupStride, 1, ratio, plane)
            groupRows = 0
        }
        let groups = (rowCount - taken) / ratio.of
        unsafe scaleGroups(source + taken * stride, stride, groups, ratio, plane)
        taken += groups * ratio.of
        collect(rowCount - taken)
    }

    private func scaleGroups(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ groups: Int, _ ratio: (parts: Int, of: Int),
        _ plane: ComponentRows
    ) {
        var done = 0
        while done < groups {
            // As many groups as have consecutive rows in the picture or in the strip.
            var count = groups - done
            let out: UnsafeMutablePointer<UInt8>
            let step: Int
            if isDirect {
                unsafe out = pictureRow(nextRow, plane)
                step = unsafe transform.reversesRows ? -plane.stride : plane.stride
            } else {
                count = min(count, roomInStrip)
                unsafe out = stripRow(nextRow)
                step = stripDescends ? -stripStride : stripStride
            }
            unsafe ScalePlane(
                source + done * ratio.of * stride, CInt(stride), CInt(from.width), CInt(count * ratio.of),
                out, CInt(step), CInt(columns.to), CInt(count * ratio.parts), kFilterBox)
            done += count
            nextRow += count * ratio.parts
            unsafe completeRows(plane)
        }
    }

    // MARK: Where a row goes

    private var isStraight: Bool { !transform.swapsAxes }
    /// A finished row is a row of the picture.
    private var isDirect: Bool { isStraight && columns.isIdentity && !transform.reversesColumns }
    /// With a quarter turn, strips begin at the picture's left edge, whichever column comes first.
    private var stripDescends: Bool { !isStraight && transform.reversesRows }
    private var stripStride: Int { StripWorkspace.wholeStrips(columns.from) }

    /// The row (or, with a quarter turn, the column) of the picture for a stored row.
    private func place(_ row: Int) -> Int { transform.reversesRows ? rows.to - 1 - row : row }

    private func placeInStrip(_ row: Int) -> Int { (isStraight ? row : place(row)) % Self.stripRows }

    private func stripRow(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        unsafe strip.start + placeInStrip(row) * stripStride
    }

    /// The number of rows in the same strip, starting with the next row.
    private var roomInStrip: Int {
        let index = placeInStrip(nextRow)
        return stripDescends ? index + 1 : Self.stripRows - index
    }

    /// The place of a stored row in a picture without a quarter turn.
    private func pictureRow(_ row: Int, _ plane: ComponentRows) -> UnsafeMutablePointer<UInt8> {
        unsafe plane.samples + place(row) * plane.stride
    }

    /// Completes the strip if the row before the next one was its last.
    private func completeRows(_ plane: ComponentRows) {
        if isDirect { return }
        let row = nextRow - 1
        let inStrip = placeInStrip(row)
        let isLast = nextRow == rows.to
        if isStraight {
            guard inStrip == Self.stripRows - 1 || isLast else { return }
            unsafe scaleStrip(firstRow: row - inStrip, count: inStrip + 1, plane)
        } else if stripDescends ? inStrip == 0 : inStrip == Self.stripRows - 1 || isLast {
            unsafe turnStrip(firstColumn: place(row) / Self.stripRows * Self.stripRows, plane)
        }
    }

    // MARK: Along a row

    /// Turns the strip's rows into columns of the picture.
    private func turnStrip(firstColumn: Int, _ plane: ComponentRows) {
        let count = min(Self.stripRows, to.width - firstColumn)
        let reverses = transform.reversesColumns
        let step = unsafe reverses ? -plane.stride : plane.stride
        for first in stride(from: 0, to: columns.to, by: tile.outputs) {
            let outputs = first..<min(first + tile.outputs, columns.to)
            let row = reverses ? columns.to - 1 - first : first
            let out = unsafe plane.samples + row * plane.stride + firstColumn
            unsafe scaleTile(outputs, width: count, into: out, step)
        }
    }

    /// Stores the strip's rows as rows of the picture.
    private func scaleStrip(firstRow: Int, count: Int, _ plane: ComponentRows) {
        let step = unsafe transform.reversesRows ? -plane.stride : plane.stride
        let picture = unsafe pictureRow(firstRow, plane)
        let reverses = transform.reversesColumns
        if columns.isIdentity {
            return unsafe MirrorPlane(
                strip.start, CInt(stripStride), picture, CInt(step), CInt(columns.to), CInt(count))
        }
        let width = TileWorkspace.width
        for start in stride(from: 0, to: columns.to, by: tile.outputs) {
            let end = min(start + tile.outputs, columns.to)
            // Eight columns are turned back at once. The last few are turned together with some before them, which are
            // repeated.
            let first = tile.outputs < 8 ? start : max(0, end - (end - start + 7) / 8 * 8)
            let lines = end - first
            let (top, tileStep) = reverses ? (lines - 1, -width) : (0, width)
            unsafe scaleTile(first..<end, width: width, into: workspace.scaled.start + top * width, tileStep)
            let column = reverses ? columns.to - end : first
            unsafe TransposePlane(
                workspace.scaled.start, CInt(width), picture + column, CInt(step), CInt(count), CInt(lines))
        }
    }

    /// Computes some samples of all rows of the strip: each sample is a row of `width`, at a distance of `step` bytes.
    private func scaleTile(
        _ outputs: Range<Int>, width: Int, into out: UnsafeMutablePointer<UInt8>, _ step: Int
    ) {
        let firstColumn = Int(columns.taps[outputs.lowerBound].first)
        let last = columns.taps[outputs.upperBound - 1]
        // Whole blocks, for which the strip has room.
        let turned = min((Int(last.first + last.count) - firstColumn + 15) / 16 * 16, stripStride - firstColumn)
        let tileWidth = TileWorkspace.width
        unsafe TransposePlane(
            strip.start + firstColumn, CInt(stripStride), workspace.turned.start, CInt(tileWidth), CInt(turned),
            CInt(tileWidth))
        unsafe columns.taps.withUnsafeBufferPointer { taps in
            unsafe columns.weights.withUnsafeBufferPointer { weights in
                unsafe repeats.withUnsafeBufferPointer { repeats in
                    let rows = unsafe UnsafePointer(workspace.turned.start) - firstColumn * tileWidth
                    unsafe Self.sum(
                        outputs, taps.baseAddress!, weights.baseAddress!, repeats.baseAddress!, period: period,
                        rows: rows, width: width, into: out, step, workspace.tree.room)
                }
            }
        }
    }

    /// Computes the rows `outputs` from a tile's rows; rows with the same weights are computed together.
    private static func sum(
        _ outputs: Range<Int>, _ taps: UnsafePointer<AreaTable.Taps>, _ weights: UnsafePointer<UInt16>,
        _ repeats: UnsafePointer<Bool>, period: Int, rows: UnsafePointer<UInt8>, width: Int,
        into out: UnsafeMutablePointer<UInt8>, _ step: Int, _ room: BlendTree.Room
    ) {
        let tileWidth = TileWorkspace.width
        for phase in 0..<min(period, outputs.count) {
            var output = outputs.lowerBound + phase
            while output < outputs.upperBound {
                var count = 1
                while count < TileWorkspace.batch, output + count * period < outputs.upperBound,
                    unsafe repeats[output + count * period]
                { count += 1 }
                let tap = unsafe taps[output]
                let distance = unsafe count > 1 ? Int(taps[output + period].first - tap.first) * tileWidth : 0
                unsafe BlendTree.sum(
                    BlendTree.Rows(
                        first: rows + Int(tap.first) * tileWidth, step: tileWidth, width: width, count: count,
                        distance: distance),
                    weights: weights + Int(tap.weights), taps: Int(tap.count),
                    into: out + (output - outputs.lowerBound) * step, stride: period * step, in: room)
                output += count * period
            }
        }
    }
}
