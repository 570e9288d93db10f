internal import Glibc

extension Picture {
    /// Both have the same size and the same samples. Ends at the first row that differs; where none does it costs less
    /// than copying one of them.
    package func hasSameSamples(as other: Picture) -> Bool {
        guard width == other.width, height == other.height else { return false }
        let (a, b) = (planes, other.planes)
        let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
        return unsafe Self.equal(a.y, b.y, stride: a.yStride, width: width, rows: height)
            && Self.equal(a.u, b.u, stride: a.uStride, width: chromaWidth, rows: chromaHeight)
            && Self.equal(a.v, b.v, stride: a.vStride, width: chromaWidth, rows: chromaHeight)
    }

    /// The bytes between rows are nobody's.
    private static func equal(
        _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, stride: Int, width: Int, rows: Int
    ) -> Bool {
        (0..<rows).allSatisfy { row in unsafe memcmp(a + row * stride, b + row * stride, width) == 0 }
    }
}
