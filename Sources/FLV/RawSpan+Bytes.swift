extension RawSpan {
    /// One byte; traps outside the span.
    @inline(__always) func byte(_ offset: Int) -> UInt8 {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// `count` bytes as a big-endian unsigned number; traps outside the span.
    @inline(__always) func bigEndian(_ offset: Int, count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in offset..<(offset + count) { value = value << 8 | UInt64(byte(index)) }
        return value
    }

    func array(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
