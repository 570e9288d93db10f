internal import MediaCore

/// Decodes PCM bytes of any encoding and byte order to native floats; full scale is 1.
///
/// Plain loops with one unaligned load per iteration and without branches, which the optimiser vectorizes. The 24-bit
/// loop is the exception, because the baseline instruction sets cannot gather its three-byte stride.
enum PCMDecoder {
    /// Larger floats than this, +18 dBFS, are garbage, and are clamped.
    static let largestMagnitude: Float = 8

    /// Decodes `count` consecutive samples.
    static func decode(
        _ source: UnsafeRawPointer, count: Int, encoding: PCMEncoding, isBigEndian: Bool,
        into target: UnsafeMutablePointer<Float>
    ) {
        switch (encoding, isBigEndian) {
        case (.int16, true): unsafe int16(source, count, target) { Int16(bigEndian: $0) }
        case (.int16, false): unsafe int16(source, count, target) { Int16(littleEndian: $0) }
        case (.int24, true): unsafe int24BigEndian(source, count, target)
        case (.int24, false): unsafe int24LittleEndian(source, count, target)
        case (.int32, true): unsafe int32(source, count, target) { Int32(bigEndian: $0) }
        case (.int32, false): unsafe int32(source, count, target) { Int32(littleEndian: $0) }
        case (.float32, true): unsafe float32(source, count, target) { Int32(bigEndian: $0) }
        case (.float32, false): unsafe float32(source, count, target) { Int32(littleEndian: $0) }
        }
    }

    @inline(__always)
    private static func int16(
        _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutablePointer<Float>, native: (Int16) -> Int16
    ) {
        let scale: Float = 1 / 32_768
        for index in 0..<count {
            let raw = unsafe source.loadUnaligned(fromByteOffset: index &* 2, as: Int16.self)
            unsafe target[index] = Float(native(raw)) * scale
        }
    }

    @inline(__always)
    private static func int32(
        _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutablePointer<Float>, native: (Int32) -> Int32
    ) {
        let scale: Float = 1 / 2_147_483_648
        for index in 0..<count {
            let raw = unsafe source.loadUnaligned(fromByteOffset: index &* 4, as: Int32.self)
            unsafe target[index] = Float(native(raw)) * scale
        }
    }

    /// Works on the bits. NaN and infinities become silence, and denormals become zero, without a branch.
    @inline(__always)
    private static func float32(
        _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutablePointer<Float>, native: (Int32) -> Int32
    ) {
        let infinity: Int32 = 0x7F80_0000
        let smallestNormal: Int32 = 0x0080_0000
        let largest = Int32(bitPattern: largestMagnitude.bitPattern)
        for index in 0..<count {
            let bits = native(unsafe source.loadUnaligned(fromByteOffset: index &* 4, as: Int32.self))
            let magnitude = bits & 0x7FFF_FFFF
            let clamped = magnitude < largest ? magnitude : largest
            let sane = (magnitude >= smallestNormal && magnitude < infinity) ? clamped | (bits & .min) : 0
            unsafe target[index] = Float(bitPattern: UInt32(bitPattern: sane))
        }
    }

    private static func int24BigEndian(
        _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutablePointer<Float>
    ) {
        let scale: Float = 1 / 2_147_483_648
        for index in 0..<count {
            let high = unsafe source.loadUnaligned(fromByteOffset: index &* 3, as: UInt16.self)
            let low = unsafe source.load(fromByteOffset: index &* 3 &+ 2, as: UInt8.self)
            let word = UInt32(UInt16(bigEndian: high)) &<< 16 | UInt32(low) &<< 8
            unsafe target[index] = Float(Int32(bitPattern: word)) * scale
        }
    }

    private static func int24LittleEndian(
        _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutablePointer<Float>
    ) {
        let scale: Float = 1 / 2_147_483_648
        for index in 0..<count {
            let low = unsafe source.loadUnaligned(fromByteOffset: index &* 3, as: UInt16.self)
            let high = unsafe source.load(fromByteOffset: index &* 3 &+ 2, as: UInt8.self)
            let word = UInt32(high) &<< 24 | UInt32(UInt16(littleEndian: low)) &<< 8
            unsafe target[index] = Float(Int32(bitPattern: word)) * scale
        }
    }
}
