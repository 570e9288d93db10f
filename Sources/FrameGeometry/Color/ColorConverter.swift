package import MediaCore

/// Applies a `ColorConversion` to a whole I420 picture in place.
///
/// Owns one row of 16-bit luma corrections (8 KiB). It consists of two plain loops of 16-bit arithmetic that the
/// compiler vectorizes. libyuv and libswscale can only convert through RGB, at several times the cost.
@safe package struct ColorConverter: ~Copyable {
    /// The value to add to each column's luma because of its chroma, in 1/64 steps; includes `lumaOfMiddle` and
    /// rounding.
    private let corrections: UnsafeMutableRawPointer
    private static let greatestWidth = 4096
    package static let memoryBytes = greatestWidth * MemoryLayout<Int16>.stride

    package init() { unsafe corrections = .allocate(byteCount: Self.memoryBytes, alignment: 64) }

    deinit { unsafe corrections.deallocate() }

    /// Converts a picture of even width and height, at most 4096 wide.
    package func convert(_ picture: PicturePlanes, by conversion: ColorConversion) {
        precondition(picture.width <= Self.greatestWidth, "a row exceeds the correction row")
        for row in 0..<picture.height / 2 {
            unsafe convertChroma(
                picture.u + row * picture.uStride, picture.v + row * picture.vStride, count: picture.width / 2,
                by: conversion)
            let luma = unsafe picture.y + 2 * row * picture.yStride
            unsafe convertLuma(luma, count: picture.width, gain: conversion.luma)
            unsafe convertLuma(luma + picture.yStride, count: picture.width, gain: conversion.luma)
        }
    }

    private func convertChroma(
        _ cbRow: UnsafeMutablePointer<UInt8>, _ crRow: UnsafeMutablePointer<UInt8>, count: Int, by c: ColorConversion
    ) {
        // Sums are in 1/64 steps. The constants add 32 for rounding, and 1 for the two halves that the shifts of two
        // products lose on average.
        let neutral: Int16 = 128 << 6 + 33
        let middle = c.lumaOfMiddle &+ 33
        for x in 0..<count {
            let cb = unsafe Int16(cbRow[x]) &- 128
            let cr = unsafe Int16(crRow[x]) &- 128
            let newCb = cb << 6 &+ (c.cbFromCb &* cb) >> 4 &+ (c.cbFromCr &* cr) >> 4 &+ neutral
            let newCr = cr << 6 &+ (c.crFromCr &* cr) >> 4 &+ (c.crFromCb &* cb) >> 4 &+ neutral
            let correction = (c.lumaFromCb &* cb) >> 4 &+ (c.lumaFromCr &* cr) >> 4 &+ middle
            unsafe cbRow[x] = Self.clamped(newCb)
            unsafe crRow[x] = Self.clamped(newCr)
            // A chroma sample covers two columns, so both corrections are stored as one word.
            let word = UInt32(UInt16(bitPattern: correction))
            unsafe corrections.storeBytes(of: word << 16 | word, toByteOffset: 4 &* x, as: UInt32.self)
        }
    }

    private func convertLuma(_ row: UnsafeMutablePointer<UInt8>, count: Int, gain: Int16) {
        for x in 0..<count {
            let luma = unsafe Int16(row[x]) &- 128
            let correction = unsafe corrections.load(fromByteOffset: 2 &* x, as: Int16.self)
            unsafe row[x] = Self.clamped(luma << 6 &+ (gain &* luma) >> 4 &+ correction)
        }
    }

    /// Converts 1/64 steps to a sample.
    @inline(__always)
    private static func clamped(_ value: Int16) -> UInt8 { UInt8(truncatingIfNeeded: max(0, min(255, value >> 6))) }
}
