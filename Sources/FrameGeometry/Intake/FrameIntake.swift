internal import CLibYUV
package import MediaCore

/// Converts a sample that arrives in bands into a `Picture` of the canvas: cropped, scaled, upright, in the canvas's
/// colour, and placed between bars.
///
/// A frame of 4096x4096 BGRA has 64 MiB, so a frame is never held whole. The socket's reader asks for the next band,
/// reads its bytes into `bandBuffer`, and reports that. The band is processed at once, while it is in the cache.
///
///     try intake.begin(plan, into: picture)
///     while let band = intake.nextBand() {
///         // skip to band.payloadOffset, read band.byteCount bytes into intake.bandBuffer
///         try intake.bandArrived()
///     }
///     // picture is complete
///
/// Used by one thread at a time. Owns the band buffer, the planes for unpacking a band, and three scalers: see
/// `memoryBytes`. It allocates nothing while the sizes of samples stay the same.
@safe package final class FrameIntake {
    /// Bytes after the buffers, because `PlaneScaler` and libyuv's ARGB functions read beyond the end of a row.
    private static let slack = 64

    private let buffer: UnsafeMutableRawPointer
    private let unpacked: UnsafeMutablePointer<UInt8>
    private let choice: ScalerChoice
    /// The plan for which `scaler` was chosen.
    private var chosenFor: GeometryPlan?
    /// The scaler of the last frame.
    package private(set) var scaler: FrameScaler
    private var scalers: (any PlaneScaler, any PlaneScaler, any PlaneScaler)
    private let converter = ColorConverter()
    private var bars: CanvasBars
    private let secureColor: (red: UInt8, green: UInt8, blue: UInt8)

    private var work: Work?
    /// The regions of the current frame that must not be shown.
    private var redaction: Redaction?

    /// The maximum memory of one intake in bytes, for sources up to this size. The memory plan uses it: 0.3 MiB of
    /// buffers, and the memory of three scalers.
    package static func memoryBytes(
        canvas: CanvasFormat, scaler: ScalerChoice, greatestSourceWidth: Int = GeometryPlan.greatestDimension,
        greatestSourceHeight: Int = GeometryPlan.greatestDimension
    ) -> Int {
        let buffers = PlaneBands.byteLimit + PlaneBands.unpackedByteLimit + 2 * slack
        let from = PlaneSize(width: greatestSourceWidth, height: greatestSourceHeight)
        // Chroma is at most as large as luma in the source, and half its size in the picture.
        let scalers = scaler.memoryBytes(from: from, to: PlaneSize(width: canvas.width, height: canvas.height))
        return buffers + ColorConverter.memoryBytes + scalers
    }

    /// A frame that has begun and is not complete.
    private struct Work {
        let plan: GeometryPlan
        let picture: Picture
        /// The frame's place in the picture.
        let planes: PicturePlanes
        /// The rows of the picture that are converted.
        let spans: IntakeSpans
        /// The index of the current span in `spans`, within the current plane.
        var span = 0
        var bands: PlaneBands
        /// The first row of the plane that has not arrived, and the end of the rows that the span needs.
        var nextRow = 0
        var endRow = 0
        /// Rows in the buffer that wait for their pair: 0 or 1. Used only if rows are gathered.
        var gatheredRows = 0
    }

    /// - Parameters:
    ///   - bars: the bars of all pictures that will be filled.
    ///   - secureColor: the colour of secure regions, in full-range RGB.
    ///   - scaler: selects the scaler that scales and turns.
    package init(
        bars: CanvasBars, secureColor: (red: UInt8, green: UInt8, blue: UInt8) = (0, 0, 0),
        scaler choice: ScalerChoice = .auto
    ) {
        self.bars = bars
        self.secureColor = secureColor
        unsafe buffer = .allocate(byteCount: PlaneBands.byteLimit + Self.slack, alignment: 64)
        unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0, count: PlaneBands.byteLimit + Self.slack)
        unsafe unpacked = UnsafeMutableRawPointer
            .allocate(byteCount: PlaneBands.unpackedByteLimit + Self.slack, alignment: 64)
            .bindMemory(to: UInt8.self, capacity: PlaneBands.unpackedByteLimit + Self.slack)
        self.choice = choice
        scaler = choice.scaler(for: nil)
        scalers = scaler.makeScalers()
    }

    deinit {
        unsafe buffer.deallocate()
        unsafe unpacked.deallocate()
    }

    /// Begins a sample, and forgets an incomplete one. `picture` has the canvas's size. It belongs to the caller again
    /// once `nextBand` returns nil, or after `cancel`.
    ///
    /// - Parameters:
    ///   - regions: the regions of this sample whose content must not be in the picture.
    ///   - damage: the pixels that differ from an earlier sample of the same plan and regions, which `picture` must
    ///     hold. Only rows that depend on these pixels are read. Nil for any other picture.
    /// - Throws: if the sample's planes overlap or are in the wrong order, or if the picture has another size. In that
    ///   case no sample has begun.
    package func begin(
        _ plan: GeometryPlan, into picture: Picture, hiding regions: SecureRegions = SecureRegions(),
        changing damage: PictureDamage? = nil
    ) throws(GeometryError) {
        work = nil
        redaction = regions.isEmpty ? nil : Redaction(regions, color: secureColor, of: plan)
        try plan.checkLayout()
        guard (picture.width, picture.height) == (plan.canvas.width, plan.canvas.height) else {
            throw GeometryError.sizeMismatch(
                expectedWidth: plan.canvas.width, expectedHeight: plan.canvas.height, width: picture.width,
                height: picture.height)
        }
        chooseScaler(for: plan)
        for component in 0..<plan.source.pixelFormat.componentCount {
            scaler(component).configure(
                from: plan.componentSize(component), to: plan.pictureComponentSize(component),
                transform: plan.transform)
        }
        let planes = picture.planes.part(plan.destination)
        let spans = damage.flatMap { changedSpans($0, plan) }
        if spans == nil { bars.surround(plan.destination, on: picture) }
        if plan.source.pixelFormat.componentCount == 1, spans == nil {
            let (width, height) = (CInt(planes.width / 2), CInt(planes.height / 2))
            unsafe SetPlane(planes.u, CInt(planes.uStride), width, height, 128)
            unsafe SetPlane(planes.v, CInt(planes.vStride), width, height, 128)
        }
        start(
            Work(
                plan: plan, picture: picture, planes: planes,
                spans: spans ?? IntakeSpans(whole: storedHeight(plan)), bands: PlaneBands(0, of: plan)))
    }

    private func storedHeight(_ plan: GeometryPlan) -> Int {
        plan.transform.stored(plan.destination.width, plan.destination.height).height
    }

    /// Nil if the scaler only converts whole planes.
    private func storedRows(_ plan: GeometryPlan) -> StoredRows? {
        guard let luma = scaler(0) as? NativePlaneScaler else { return nil }
        let chroma = plan.source.pixelFormat.componentCount > 1 ? scaler(1) as? NativePlaneScaler : nil
        return StoredRows(plan: plan, luma: luma, chroma: chroma)
    }

    /// Whether `begin` can use `changing:` for the last plan.
    package var makesParts: Bool { chosenFor.map { partRows($0) != nil } ?? false }

    /// The rows of the picture that must be converted again; nil for all rows.
    private func changedSpans(_ damage: PictureDamage, _ plan: GeometryPlan) -> IntakeSpans? {
        partRows(plan).map { IntakeSpans(damage, by: $0) }
    }

    /// Nil if parts of a picture cannot be converted separately.
    private func partRows(_ plan: GeometryPlan) -> StoredRows? {
        for plane in 0..<plan.source.pixelFormat.planeCount where PlaneBands(plane, of: plan).isGathered { return nil }
        guard let rows = storedRows(plan) else { return nil }
        // If only one of luma and chroma is copied, the other one also needs neighbouring rows. The copy would then
        // write rows outside of the span, without colour conversion.
        if plan.colorConversion != nil, let chroma = rows.chroma, chroma.isIdentity != rows.luma.isIdentity {
            return nil
        }
        return rows
    }

    /// Starts the current span, or the next plane after the last span. Finishes the picture after the last plane.
    private func start(_ begun: Work) {
        var next = begun
        if next.span == next.spans.count {
            guard next.spans.count > 0, next.bands.plane + 1 < next.plan.source.pixelFormat.planeCount else {
                return finish(next)
            }
            next.bands = PlaneBands(next.bands.plane + 1, of: next.plan)
            next.span = 0
        }
        let span = next.spans[next.span]
        let format = next.plan.source.pixelFormat
        let isPacked = format.planeCount == 1
        for component in 0..<format.componentCount where isPacked || (component == 0) == (next.bands.plane == 0) {
            scaler(component).start(component == 0 ? span : span.lowerBound / 2..<span.upperBound / 2)
        }
        (next.nextRow, next.endRow) = (0, next.bands.rows)
        if span != 0..<storedHeight(next.plan), let rows = storedRows(next.plan)?.needed(for: span) {
            let divisor = format.plane(next.bands.plane).heightDivisor
            next.nextRow = rows.lowerBound / divisor
            next.endRow = min(next.bands.rows, (rows.upperBound + divisor - 1) / divisor)
        }
        work = next
    }

    private func finish(_ done: Work) {
        guard let conversion = done.plan.colorConversion else { return }
        guard let luma = scaler(0) as? NativePlaneScaler else {
            return converter.convert(done.planes, by: conversion)
        }
        for index in 0..<done.spans.count {
            converter.convert(done.planes.part(luma.part(done.spans[index])), by: conversion)
        }
    }

    private func chooseScaler(for plan: GeometryPlan) {
        guard plan != chosenFor else { return }
        chosenFor = plan
        let scaler = choice.scaler(for: plan)
        guard scaler != self.scaler else { return }
        self.scaler = scaler
        scalers = scaler.makeScalers()
    }

    /// The band that is expected next; nil if the picture is complete or no sample has begun. Offsets rise from band to
    /// band within a sample. Bytes between two bands and after the last one are not needed.
    package func nextBand() -> Band? { work.map { $0.bands.band(at: $0.nextRow, upTo: $0.endRow) } }

    /// The memory for the next band's bytes; query it for every band. It holds at least the band's `byteCount`.
    package var bandBuffer: UnsafeMutableRawBufferPointer {
        let used = work.map { $0.gatheredRows * $0.bands.rowBytes } ?? 0
        return unsafe UnsafeMutableRawBufferPointer(start: buffer + used, count: PlaneBands.byteLimit - used)
    }

    /// Processes the next band, whose bytes are in `bandBuffer`. An error abandons the sample.
    package func bandArrived() throws(GeometryError) {
        guard var work else { throw GeometryError.noBandAwaited }
        self.work = nil
        if work.bands.isGathered {
            work.gatheredRows += 1
            work.nextRow += 1
            if work.gatheredRows == 2 || work.nextRow == work.endRow {
                processBuffer(
                    stride: work.bands.rowBytes, firstRow: work.nextRow - work.gatheredRows,
                    rowCount: work.gatheredRows, of: work)
                work.gatheredRows = 0
            }
        } else {
            let band = work.bands.band(at: work.nextRow, upTo: work.endRow)
            processBuffer(
                stride: work.bands.stride, firstRow: band.firstRow, rowCount: band.rowCount, of: work)
            work.nextRow += band.rowCount
        }
        advance(work)
    }

    /// Processes the next band in memory of the caller. Up to 64 bytes after the band are read as well, and the memory
    /// may change meanwhile. An error abandons the sample.
    package func bandArrived(at bytes: UnsafeRawPointer) throws(GeometryError) {
        guard var work else { throw GeometryError.noBandAwaited }
        let band = work.bands.band(at: work.nextRow, upTo: work.endRow)
        // The caller's memory must not be written, so redaction needs a copy.
        let isRedacted =
            redaction?.touches(plane: band.plane, rows: band.firstRow..<band.firstRow + band.rowCount) == true
        if work.bands.isGathered || isRedacted {
            unsafe bandBuffer.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: band.byteCount))
            return try bandArrived()
        }
        self.work = nil
        unsafe process(
            bytes, stride: work.bands.stride, firstRow: band.firstRow, rowCount: band.rowCount, of: work)
        work.nextRow += band.rowCount
        advance(work)
    }

    /// Abandons the sample. The picture's contents are then undefined.
    package func cancel() { work = nil }

    /// Moves to the next span or plane if the current one is complete, and finishes the picture after the last.
    private func advance(_ progress: Work) {
        guard progress.nextRow == progress.endRow else { return work = progress }
        var progress = progress
        progress.span += 1
        start(progress)
    }

    /// Processes rows in `buffer`. They still hold the client's own samples, which no code has used. Regions that must
    /// not be shown are painted over before anything is derived from the samples.
    private func processBuffer(stride: Int, firstRow: Int, rowCount: Int, of work: Work) {
        unsafe redaction?.paint(
            over: buffer, stride: stride, plane: work.bands.plane, firstRow: firstRow, rowCount: rowCount)
        unsafe process(buffer, stride: stride, firstRow: firstRow, rowCount: rowCount, of: work)
    }

    /// Unpacks and scales rows of one plane.
    private func process(
        _ bytes: UnsafeRawPointer, stride: Int, firstRow: Int, rowCount: Int, of work: Work
    ) {
        let format = work.plan.source.pixelFormat
        let plane = work.bands.plane
        let samples = unsafe bytes.assumingMemoryBound(to: UInt8.self)
        if !format.needsUnpacking || (plane == 0 && format.plane(0).bytesPerElement == 1) {
            let component = format.component(ofPlane: plane)
            guard scaler(component).isIdentity else {
                return unsafe scale(samples, stride, component, firstRow, rowCount, of: work)
            }
            let rows = unsafe pictureRows(component, from: firstRow, of: work)
            let width = CInt(work.plan.componentSize(component).width)
            return unsafe CopyPlane(samples, CInt(stride), rows.samples, CInt(rows.stride), width, CInt(rowCount))
        }

        let isPacked = format.planeCount == 1
        let lumaRows = plane == 0 ? rowCount : 0
        let chromaDivisor = isPacked ? format.chromaDivisors.vertical : 1
        let chromaFirst = firstRow / chromaDivisor
        let chromaRows = isPacked || plane == 1 ? (rowCount + chromaDivisor - 1) / chromaDivisor : 0

        var used = 0
        let y = unsafe target(0, firstRow, lumaRows, of: work, used: &used)
        let cb = unsafe target(1, chromaFirst, chromaRows, of: work, used: &used)
        let cr = unsafe target(2, chromaFirst, chromaRows, of: work, used: &used)
        unsafe PlaneUnpacker.unpack(
            samples, stride: stride, format: format, plane: plane, width: work.plan.crop.width, rows: rowCount,
            y: y, cb: cb, cr: cr)
        unsafe scale(y.samples, y.stride, 0, firstRow, lumaRows, of: work)
        unsafe scale(cb.samples, cb.stride, 1, chromaFirst, chromaRows, of: work)
        unsafe scale(cr.samples, cr.stride, 2, chromaFirst, chromaRows, of: work)
    }

    /// The target of a component's unpacked rows: the picture if the sizes are equal, else our own planes, one behind
    /// the other. `PlaneBands` limits a band so that its planes fit.
    private func target(
        _ component: Int, _ firstRow: Int, _ rowCount: Int, of work: Work, used: inout Int
    ) -> ComponentRows {
        guard rowCount > 0, !scaler(component).isIdentity else {
            return unsafe pictureRows(component, from: firstRow, of: work)
        }
        let stride = PlaneBands.unpackedStride(width: work.plan.componentSize(component).width)
        defer { used += stride * rowCount }
        return unsafe ComponentRows(samples: unpacked + used, stride: stride)
    }

    /// Scales rows of a component into the picture, unless unpacking has already stored them there.
    private func scale(
        _ samples: UnsafePointer<UInt8>, _ stride: Int, _ component: Int, _ firstRow: Int, _ rowCount: Int,
        of work: Work
    ) {
        let scaler = scaler(component)
        guard rowCount > 0, !scaler.isIdentity else { return }
        unsafe scaler.feed(
            samples, stride: stride, firstRow: firstRow, rowCount: rowCount,
            into: pictureRows(component, from: 0, of: work))
    }

    private func pictureRows(_ component: Int, from row: Int, of work: Work) -> ComponentRows {
        let planes = work.planes
        return switch component {
        case 0: unsafe ComponentRows(samples: planes.y + row * planes.yStride, stride: planes.yStride)
        case 1: unsafe ComponentRows(samples: planes.u + row * planes.uStride, stride: planes.uStride)
        default: unsafe ComponentRows(samples: planes.v + row * planes.vStride, stride: planes.vStride)
        }
    }

    private func scaler(_ component: Int) -> any PlaneScaler {
        switch component {
        case 0: scalers.0
        case 1: scalers.1
        default: scalers.2
        }
    }
}
