import FrameGeometry
import MediaCore
import SeededRandom
import Testing

/// Promise: whatever the processor is good at, a scaled sample is the rounded sum of weighted rows, then columns, which
/// is computed here one by one: bicubic weights, or areas by libyuv, which rounds more often.
@Suite struct ScalingTests {
    /// From hardly any ratio to beyond what fits one register, both ways; odd widths end inside a block.
    private static let ratios: [(from: (Int, Int), to: (Int, Int))] = [
        ((102, 36), (102, 36)), ((104, 38), (102, 36)), ((150, 54), (100, 36)), ((204, 64), (102, 32)),
        ((210, 66), (102, 32)), ((234, 78), (104, 36)), ((310, 130), (86, 40)), ((250, 84), (86, 30)),
        ((102, 36), (104, 38)), ((100, 34), (158, 52)), ((20, 16), (210, 80)),
        // Both sides to a half, a quarter and three quarters, and what comes near.
        ((408, 264), (204, 132)), ((408, 264), (102, 66)), ((408, 264), (306, 198)), ((408, 264), (204, 130)),
        // As far as bicubic goes, and beyond.
        ((300, 180), (100, 60)), ((302, 180), (100, 60)), ((500, 90), (86, 18)), ((1200, 900), (16, 16)),
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
            let (columnsOut, rowsOut) = (size.width / divisor, size.height / divisor)
            func expected(_ weights: (Int, Int) -> [Weights]) -> [UInt8] {
                let (rows, columns) = (weights(height, to.1 / divisor), weights(width, to.0 / divisor))
                let middle = rows.map { row in
                    (0..<width).map { x in Self.sum(row, of: { Int(payload[offset + $0 * width + x]) }) }
                }
                let stored = middle.map { line in columns.map { column in Self.sum(column, of: { line[$0] }) } }
                return (0..<rowsOut).flatMap { y in
                    (0..<columnsOut).map { x in
                        let place = ReferenceGeometry.storedPoint(
                            (Double(x) + 0.5) / Double(columnsOut), (Double(y) + 0.5) / Double(rowsOut), transform)
                        let (column, row) = (place.x * Double(columns.count), place.y * Double(rows.count))
                        return UInt8(stored[Int(row)][Int(column)])
                    }
                }
            }
            let isFar = from.0 > 3 * to.0 || from.1 > 3 * to.1
            let areas = expected(Self.areas)
            let bicubic = isFar ? [] : expected(Self.bicubic)
            for (scaler, picture) in painted {
                let bytes = [picture.y, picture.u, picture.v][component]
                if scaler == .libyuv || isFar {
                    Self.expectRoundings(
                        bytes, areas, isScaled: width != to.0 / divisor || height != to.1 / divisor)
                } else {
                    #expect(bytes == bicubic, "component \(component), \(scaler)")
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
        let unit = weights.weights.reduce(0, +)
        let sum = weights.weights.enumerated().reduce(0) { (total: Int, weight) in
            total + weight.element * (sample(weights.first + weight.offset) - 128)
        }
        let mean = Double(sum) / Double(unit)
        guard unit == 110 else { return 128 + Int((mean + 0.5).rounded(.down)) }
        // 1/110 is 298/32768 here.
        return max(0, min(255, 128 + (sum * 298 + 16384) >> 15))
    }

    /// In 1/110: the cubic of Keys, a = -0.6, over the coarser of the two grids. Exact, in 1/5 of its cubed step.
    private static func bicubic(from: Int, to: Int) -> [Weights] {
        guard from != to else { return (0..<to).map { ($0, [110]) } }
        let step = 2 * max(from, to)
        return (0..<to).map { index in
            let centre = (2 * index + 1) * from - to
            var values: [Int: Int] = [:]
            for sample in -20...from + 20 {
                let d = abs(2 * to * sample - centre)
                guard d < 2 * step else { continue }
                let near = 7 * d * d * d - 12 * d * d * step + 5 * step * step * step
                let far = -3 * d * d * d + 15 * d * d * step - 24 * d * step * step + 12 * step * step * step
                values[max(0, min(from - 1, sample)), default: 0] += d < step ? near : far
            }
            let places = values.keys.sorted()
            let total = values.values.reduce(0, +)
            let exact = places.map { (place: $0, value: 110 * values[$0]!) }
            var rounded = exact.map { Int((Double($0.value) / Double(total)).rounded(.down)) }
            let missing = 110 - rounded.reduce(0, +)
            let byRest = exact.indices.sorted { first, second in
                let rests = [first, second].map { exact[$0].value - rounded[$0] * total }
                return (-rests[0], first) < (-rests[1], second)
            }
            for index in byRest.prefix(missing) { rounded[index] += 1 }
            return (places[0], rounded)
        }
    }

    /// In 1/256: the areas of the samples that a sample covers, or how near the two around its centre are.
    private static func areas(from: Int, to: Int) -> [Weights] {
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
