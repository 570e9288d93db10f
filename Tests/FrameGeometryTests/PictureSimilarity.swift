import Glibc

/// Peak signal-to-noise ratio in dB; 100 where the planes are equal.
func psnr(_ a: [UInt8], _ b: [UInt8]) -> Double {
    precondition(a.count == b.count && !a.isEmpty)
    var sum = 0
    for index in a.indices {
        let difference = Int(a[index]) - Int(b[index])
        sum += difference * difference
    }
    return sum == 0 ? 100 : 10 * log10(255 * 255 * Double(a.count) / Double(sum))
}

/// The mean structural similarity over blocks of 8x8 samples (Wang et al. 2004, without the Gaussian window).
func ssim(_ a: [UInt8], _ b: [UInt8], width: Int) -> Double {
    precondition(a.count == b.count && a.count % width == 0)
    let height = a.count / width
    let side = min(8, width, height)
    var (total, blocks) = (0.0, 0.0)
    for top in stride(from: 0, through: height - side, by: side) {
        for left in stride(from: 0, through: width - side, by: side) {
            var (sumA, sumB, sumAA, sumBB, sumAB) = (0, 0, 0, 0, 0)
            for row in top..<top + side {
                for index in row * width + left..<row * width + left + side {
                    let (x, y) = (Int(a[index]), Int(b[index]))
                    sumA += x
                    sumB += y
                    sumAA += x * x
                    sumBB += y * y
                    sumAB += x * y
                }
            }
            let n = Double(side * side)
            let (meanA, meanB) = (Double(sumA) / n, Double(sumB) / n)
            let (varianceA, varianceB) = (Double(sumAA) / n - meanA * meanA, Double(sumBB) / n - meanB * meanB)
            let covariance = Double(sumAB) / n - meanA * meanB
            let (c1, c2) = (6.5025, 58.5225)
            total +=
                (2 * meanA * meanB + c1) * (2 * covariance + c2)
                / ((meanA * meanA + meanB * meanB + c1) * (varianceA + varianceB + c2))
            blocks += 1
        }
    }
    return total / blocks
}
