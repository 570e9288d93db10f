import FrameGeometry
import MediaCore
import SeededRandom
import Testing

/// Promise: whatever the processor is good at, a scaled sample is the rounded sum of weighted rows, then columns, which
/// is computed here one by one. By libyuv it differs from that by roundings.
@Suite struct ScalingTests {
    /// From hardly any ratio to beyond what fits one register, both ways; odd widths end inside a block.
    private static let ratios: [(from: (Int, Int), to: (Int, Int))] = [
        ((102, 36), (102, 36)), ((104, 38), (102, 36)), ((150, 54), (100, 36)), ((204, 64), (102, 32)),
        ((210, 66), (102, 32)), ((234, 78), (104, 36)), ((310, 130), (86, 40)), ((390, 130), (86, 30)),
        ((500, 90), (86, 18)), ((102, 36), (104, 38)), ((100, 34), (158, 52)), ((20, 16), (210, 80)),
        // Both sides to a half, a quarter and three quarters, and what comes near.
        ((408, 264), (204, 132)), ((408, 264), (102, 66)), ((408, 264), (306, 198)), ((408, 264), (204, 130)),
        // By far.
        ((1200, 900), (16, 16)),
    ]

    @Test(arguments: OrientationTag.allCases, ratios.indices)
    func samplesAreWeightedSums(orientation: OrientationTag, ratio: Int) throws {
        let (from, to) = Self.ratios[ratio]
        let transform = OrientationConvention.exif.uprightTransform(for: orientation)
        let size = transform.swapsAxes ? (width: to.1, height: to.0) : (width: to.0, height: to.1)
        let canvas = canvasFormat(size.width, size.height)
        let format = VideoSampleFormat(packed: .i420, width: from.0, height: from.1)
        let plan = GeometryPlan(source: format, transform: transform, canvas: canvas, fit: .stretch)
        var random = SplitMix64(seed: UInt64(ratio))
        // Extremes and all between.
        let payload = (0..<format.minimumPayloadBytes).map { _ in
            UInt8(clamping: Int(random.next() % 512) - 128)
        }
        let painted = try FrameScaler.allCases.map { ($0, try paint(payload, plan, scaler: $0)) }
        var offset = 0
        for component in 0..<3 {
            let divisor = component == 0 ? 1 : 2
            let (width, height) = (from.0 / divisor, from.1 / divisor)
            let rows = Self.weights(from: height, to: to.1 / divisor)
            let columns = Self.weights(from: width, to: to.0 / divisor)
            let middle = rows.map { row in
                (0..<width).map { x in Self.sum(row, of: { Int(payload[offset + $0 * width + x]) }) }
            }
            let stored = middle.map { line in columns.map { column in Self.sum(column, of: { line[$0] }) } }
            let (columnsOut, rowsOut) = (size.width / divisor, size.height / divisor)
            let turned = (0..<rowsOut).flatMap { y in
                (0..<columnsOut).map { x in
                    let place = ReferenceGeometry.storedPoint(
                        (Double(x) + 0.5) / Double(columnsOut), (Double(y) + 0.5) / Double(rowsOut), transform)
                    let (column, row) = (place.x * Double(columns.count), place.y * Double(rows.count))
                    return UInt8(stored[Int(row)][Int(column)])
                }
            }
            for (scaler, picture) in painted {
                let bytes = [picture.y, picture.u, picture.v][component]
                if scaler == .libyuv {
                    Self.expectRoundings(bytes, turned, isScaled: columns.count != width || rows.count != height)
                } else {
                    #expect(bytes == turned, "component \(component), \(scaler)")
                }
            }
            offset += width * height
        }
    }

    /// What libyuv makes: one scaling is a few roundings, and they favour neither brighter nor darker samples.
    private static func expectRoundings(_ bytes: [UInt8], _ expected: [UInt8], isScaled: Bool) {
        guard isScaled else {
            #expect(bytes == expected, "libyuv")
            return
        }
        #expect(psnr(bytes, expected) > 50, "libyuv \(psnr(bytes, expected)) dB")
        let difference = zip(bytes, expected).reduce(0) { $0 + Int($1.0) - Int($1.1) }
        #expect(abs(Double(difference) / Double(bytes.count)) < 0.5, "libyuv, brightness")
    }

    private typealias Weights = (first: Int, weights: [Int])

    private static func sum(_ weights: Weights, of sample: (Int) -> Int) -> Int {
        let sum = weights.weights.enumerated().reduce(128) { (total: Int, weight) in
            total + weight.element * sample(weights.first + weight.offset)
        }
        return sum >> 8
    }

    /// In 1/256: the areas of the samples that a sample covers, or how near the two around its centre are.
    private static func weights(from: Int, to: Int) -> [Weights] {
        (0..<to).map { index in
            if to > from {
                let place = max(0, min((from - 1) * 512, ((2 * index + 1) * from * 256 + to / 2) / to - 256))
                let second = (place % 512 + 1) / 2
                return (place / 512, second == 0 ? [256] : [256 - second, second])
            }
            let last = ((index + 1) * from - 1) / to
            let covered = (index * from / to...last).map { min(($0 + 1) * to, (index + 1) * from) - index * from }
            let sums = covered.map { ($0 * 256 + from / 2) / from }
            return (index * from / to, zip(sums, [0] + sums).map { $0 - $1 })
        }
    }
}
