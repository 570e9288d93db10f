internal import MediaCore

/// Applies a `ColorConversion` to a whole I420 picture in place.
///
/// Owns one row of 16-bit luma corrections (8 KiB). Two plain loops of 16-bit arithmetic that the compiler turns into
/// vector code: libyuv and libswscale only offer the way through RGB, at several times the cost.
@safe struct ColorConverter: ~Copyable {
    /// What chroma adds to the luma of each column, in 1/64 steps with the offset and a half for rounding included.
    private let corrections: UnsafeMutableRawPointer
    private static let greatestWidth = 4096
    static let memoryBytes = greatestWidth * MemoryLayout<Int16>.stride

    init() { unsafe corrections = .allocate(byteCount: Self.memoryBytes, alignment: 64) }

    deinit { unsafe corrections.deallocate() }

    /// Converts a picture of even width and height, at most 4096 wide.
    func convert(_ picture: PicturePlanes, by conversion: ColorConversion) {
        precondition(picture.width <= Self.greatestWidth, "a row exceeds the correction row")
        for row in 0..<picture.height / 2 {
            unsafe convertChroma(
                picture.u + row * picture.uStride, picture.v + row * picture.vStride, count: picture.width / 2,
                by: conversion)
            let luma = unsafe picture.y + 2 * row * picture.yStride
            unsafe convertLuma(luma, count: picture.width, gain: UInt32(conversion.luma))
            unsafe convertLuma(luma + picture.yStride, count: picture.width, gain: UInt32(conversion.luma))
        }
    }

    private func convertChroma(
        _ cbRow: UnsafeMutablePointer<UInt8>, _ crRow: UnsafeMutablePointer<UInt8>, count: Int, by c: ColorConversion
    ) {
        let half: Int32 = 1 << 13
        // Q14 to 1/64 steps; one more 1/128 makes up for what the luma product loses by truncation.
        let offset = c.lumaOffset &+ half &+ 128
        let neutral = 128 << 14 &+ half
        for x in 0..<count {
            let cb = unsafe Int32(cbRow[x]) &- 128
            let cr = unsafe Int32(crRow[x]) &- 128
            let newCb = (c.cbFromCb &* cb &+ c.cbFromCr &* cr &+ neutral) >> 14
            let newCr = (c.crFromCb &* cb &+ c.crFromCr &* cr &+ neutral) >> 14
            let correction = (c.lumaFromCb &* cb &+ c.lumaFromCr &* cr &+ offset) >> 8
            unsafe cbRow[x] = UInt8(truncatingIfNeeded: max(0, min(255, newCb)))
            unsafe crRow[x] = UInt8(truncatingIfNeeded: max(0, min(255, newCr)))
            // A chroma sample stands for two columns: both corrections are stored as one word.
            let word = UInt32(truncatingIfNeeded: correction) & 0xffff
            unsafe corrections.storeBytes(of: word << 16 | word, toByteOffset: 4 &* x, as: UInt32.self)
        }
    }

    private func convertLuma(_ row: UnsafeMutablePointer<UInt8>, count: Int, gain: UInt32) {
        for x in 0..<count {
            // Q7 times Q15, less 16 bits, leaves 1/64 steps: one 16-bit high multiplication.
            let scaled = unsafe Int16(truncatingIfNeeded: (UInt32(row[x]) << 7 &* gain) >> 16)
            let value = unsafe (scaled &+ corrections.load(fromByteOffset: 2 &* x, as: Int16.self)) >> 6
            unsafe row[x] = UInt8(truncatingIfNeeded: max(0, min(255, value)))
        }
    }
}
