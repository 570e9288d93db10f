import Foundation

/// How similar two pictures are: structural similarity and mean error, separately for each plane.
package struct PictureComparison: Sendable, CustomStringConvertible {
    /// Mean SSIM of the luma plane; 1 is identity.
    package let lumaSSIM: Double
    /// The lower mean SSIM of the two chroma planes.
    package let chromaSSIM: Double
    /// The peak signal-to-noise ratio of the luma plane in dB.
    package let lumaPSNR: Double
    /// The larger mean absolute error of the two chroma planes, in 8-bit steps.
    package let chromaError: Double
    /// The largest difference of the means of any block, in any plane, that has one colour in the second picture. Such
    /// blocks show a wrong matrix or range, but not a scaling filter.
    package let flatError: Double

    package init(_ a: I420Image, _ b: I420Image) throws {
        guard a.width == b.width, a.height == b.height else {
            throw TestFailure("\(a.width)x\(a.height) cannot be compared with \(b.width)x\(b.height)")
        }
        lumaSSIM = Self.ssim(a.y, b.y, width: a.width, height: a.height)
        chromaSSIM = min(
            Self.ssim(a.u, b.u, width: a.chromaWidth, height: a.chromaHeight),
            Self.ssim(a.v, b.v, width: a.chromaWidth, height: a.chromaHeight))
        let squared = Self.errors(a.y, b.y).squared
        lumaPSNR = squared == 0 ? 100 : 10 * log10(255 * 255 / squared)
        chromaError = max(Self.errors(a.u, b.u).absolute, Self.errors(a.v, b.v).absolute)
        flatError = max(
            Self.flatError(a.y, b.y, width: a.width, height: a.height, side: 8),
            Self.flatError(a.u, b.u, width: a.chromaWidth, height: a.chromaHeight, side: 4),
            Self.flatError(a.v, b.v, width: a.chromaWidth, height: a.chromaHeight, side: 4))
    }

    /// The verdict of tests. It tolerates scaling filters and the encoder, but no wrong orientation, matrix or range,
    /// and no exchanged chroma planes.
    package var isSamePicture: Bool {
        lumaSSIM >= 0.97 && lumaPSNR >= 28 && chromaSSIM >= 0.9 && chromaError <= 3 && flatError <= 4
    }

    package var description: String {
        String(
            format: "luma SSIM %.4f, PSNR %.1f dB, chroma SSIM %.4f, mean error %.2f, flat error %.1f", lumaSSIM,
            lumaPSNR, chromaSSIM, chromaError, flatError)
    }

    /// Mean SSIM over 8x8 windows that overlap by half, with Wang's constants, as in ffmpeg's `ssim` filter.
    static func ssim(_ a: [UInt8], _ b: [UInt8], width: Int, height: Int) -> Double {
        let (columns, rows) = (width / 4, height / 4)
        // Sums over 4x4 blocks: a, b, a*a + b*b, a*b.
        var sums = [Int32](repeating: 0, count: columns * rows * 4)
        a.withUnsafeBufferPointer { aBuffer in
            b.withUnsafeBufferPointer { bBuffer in
                sums.withUnsafeMutableBufferPointer { sumBuffer in
                    let (a, b, sums) = (aBuffer.baseAddress!, bBuffer.baseAddress!, sumBuffer.baseAddress!)
                    var y = 0
                    while y < rows * 4 {
                        var x = 0
                        while x < columns * 4 {
                            let (p, q) = (Int32(a[y * width + x]), Int32(b[y * width + x]))
                            let block = sums + ((y >> 2) * columns + (x >> 2)) * 4
                            block[0] += p
                            block[1] += q
                            block[2] += p * p + q * q
                            block[3] += p * q
                            x += 1
                        }
                        y += 1
                    }
                }
            }
        }
        let c1 = 0.01 * 0.01 * 255 * 255 * 64 * 64
        let c2 = 0.03 * 0.03 * 255 * 255 * 64 * 63
        var total = 0.0
        sums.withUnsafeBufferPointer { buffer in
            let sums = buffer.baseAddress!
            var row = 0
            while row < rows - 1 {
                var column = 0
                while column < columns - 1 {
                    let p = sums + (row * columns + column) * 4
                    let q = p + columns * 4
                    let s1 = Double(p[0] + p[4] + q[0] + q[4])
                    let s2 = Double(p[1] + p[5] + q[1] + q[5])
                    let ss = Double(p[2] + p[6] + q[2] + q[6])
                    let s12 = Double(p[3] + p[7] + q[3] + q[7])
                    let variances = ss * 64 - s1 * s1 - s2 * s2
                    let covariance = s12 * 64 - s1 * s2
                    total += (2 * s1 * s2 + c1) * (2 * covariance + c2)
                        / ((s1 * s1 + s2 * s2 + c1) * (variances + c2))
                    column += 1
                }
                row += 1
            }
        }
        return total / Double((rows - 1) * (columns - 1))
    }

    /// Only blocks with flat surroundings count, half a side around, because scalers overshoot beside edges.
    private static func flatError(_ a: [UInt8], _ b: [UInt8], width: Int, height: Int, side: Int) -> Double {
        var worst = 0
        let margin = side / 2
        a.withUnsafeBufferPointer { aBuffer in
            b.withUnsafeBufferPointer { bBuffer in
                let (a, b) = (aBuffer.baseAddress!, bBuffer.baseAddress!)
                var top = margin
                while top + side + margin <= height {
                    var left = margin
                    while left + side + margin <= width {
                        var (lowest, highest, difference) = (255, 0, 0)
                        var y = top - margin
                        while y < top + side + margin && highest - lowest <= 10 {
                            var x = left - margin
                            while x < left + side + margin {
                                let value = Int(b[y * width + x])
                                if value < lowest { lowest = value }
                                if value > highest { highest = value }
                                if y >= top && y < top + side && x >= left && x < left + side {
                                    difference += Int(a[y * width + x]) - value
                                }
                                x += 1
                            }
                            y += 1
                        }
                        if highest - lowest <= 10 { worst = max(worst, abs(difference)) }
                        left += side
                    }
                    top += side
                }
            }
        }
        return Double(worst) / Double(side * side)
    }

    private static func errors(_ a: [UInt8], _ b: [UInt8]) -> (absolute: Double, squared: Double) {
        var (absolute, squared) = (0, 0)
        a.withUnsafeBufferPointer { aBuffer in
            b.withUnsafeBufferPointer { bBuffer in
                let (a, b) = (aBuffer.baseAddress!, bBuffer.baseAddress!)
                var i = 0
                while i < aBuffer.count {
                    let difference = abs(Int(a[i]) - Int(b[i]))
                    absolute += difference
                    squared += difference * difference
                    i += 1
                }
            }
        }
        return (Double(absolute) / Double(a.count), Double(squared) / Double(a.count))
    }
}
