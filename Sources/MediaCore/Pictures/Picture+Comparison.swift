internal import Glibc

extension Picture {
    /// Whether both pictures have the same size and the same samples. Stops at the first row that differs. If none
    /// differs, the cost is below that of copying one picture.
    package func hasSameSamples(as other: Picture) -> Bool {
        guard width == other.width, height == other.height else { return false }
        let (a, b) = (planes, other.planes)
        let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
        return unsafe Self.equal(a.y, b.y, stride: a.yStride, width: width, rows: height)
            && Self.equal(a.u, b.u, stride: a.uStride, width: chromaWidth, rows: chromaHeight)
            && Self.equal(a.v, b.v, stride: a.vStride, width: chromaWidth, rows: chromaHeight)
    }

    /// Ignores the padding between rows.
    private static func equal(
        _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, stride: Int, width: Int, rows: Int
    ) -> Bool {
        (0..<rows).allSatisfy { row in unsafe memcmp(a + row * stride, b + row * stride, width) == 0 }
    }
}
