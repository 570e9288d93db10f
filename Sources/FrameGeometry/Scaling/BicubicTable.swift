internal import CPlanes

/// The source samples and weights for each sample of a bicubically scaled row or column. A pure value.
///
/// The kernel is the cubic of Keys with a = -0.6, as in libswscale's `bicubic`. Shrinking stretches it over
/// proportionally more samples, so that nothing aliases. Samples beyond an edge count as the sample at the edge.
/// Weights are in 1/`unit` and add up to 1, so that flat areas stay flat. Some are negative: results can leave the
/// samples' range, and are clamped to 0...255.
struct BicubicTable {
    let from: Int
    let to: Int
    let taps: [upcast_taps]
    let weights: [Int8]

    /// The maximum ratio of `from` to `to`. More would take memory for rows that are kept, and time.
    static let greatestRatio = 3
    /// The sum of the weights of a sample.
    static let unit = Int(upcast_weight_unit)

    var isIdentity: Bool { from == to }

    static let none = BicubicTable(from: 0, to: 0)

    /// The maximum number of source samples for one sample.
    var greatestCount: Int { taps.reduce(0) { max($0, Int($1.count)) } }

    /// Needs `from` to be at most `greatestRatio` times `to`.
    init(from: Int, to: Int) {
        precondition(from <= Self.greatestRatio * to, "\(from) samples to \(to)")
        self.from = from
        self.to = to
        var taps: [upcast_taps] = []
        var weights: [Int8] = []
        taps.reserveCapacity(to)
        weights.reserveCapacity(Self.greatestWeightCount(from: from, to: to))
        for index in 0..<to {
            let start = weights.count
            let first = from == to ? index : Self.append(index, from, to, &weights)
            if from == to { weights.append(Int8(Self.unit)) }
            let count = weights.count - start
            taps.append(upcast_taps(first: Int32(first), count: Int32(count), weights: Int32(start)))
            if count % 2 == 1 { weights.append(0) }
        }
        self.taps = taps
        self.weights = weights
    }

    /// The maximum number of source samples for one sample, whatever the sizes: four times `greatestRatio`, because
    /// they are less than two samples of the coarser grid away.
    static let greatestCount = Int(upcast_greatest_taps)

    private static func greatestWeightCount(from: Int, to: Int) -> Int { 4 * max(from, to) + 2 * to }

    /// The maximum size of a table in bytes, for at most `from` samples.
    static func memoryBytes(from: Int, to: Int) -> Int {
        let from = min(from, greatestRatio * to)
        return to * MemoryLayout<upcast_taps>.stride
            + greatestWeightCount(from: from, to: to) * MemoryLayout<Int8>.stride
    }

    /// Appends the weights of one sample, and returns the first source sample.
    private static func append(_ index: Int, _ from: Int, _ to: Int, _ weights: inout [Int8]) -> Int {
        // Integers, so that every processor has the same weights. Distances are in 1 / (2 * to) of a source sample.
        let centre = (2 * index + 1) * from - to
        let side = 2 * max(from, to)
        let reach = 2 * side - 1
        let nearest = (centre - reach + 2 * to - 1).flooredQuotient(2 * to)...(centre + reach).flooredQuotient(2 * to)
        let places = nearest.clamped(to: 0...from - 1)
        var values = InlineArray<12, Int>(repeating: 0)
        for sample in nearest {
            let place = min(max(sample, places.lowerBound), places.upperBound)
            values[place - places.lowerBound] += kernel(abs(2 * to * sample - centre), side)
        }
        var total = 0
        for place in 0..<places.count { total += values[place] }
        // Weights are rounded down, then up where the remainder is largest, until the sum is right.
        var missing = unit
        var rests = InlineArray<12, Int>(repeating: -1)
        for place in 0..<places.count {
            let weight = (unit * values[place]).flooredQuotient(total)
            rests[place] = unit * values[place] - weight * total
            values[place] = weight
            missing -= weight
        }
        while missing > 0 {
            var most = 0
            for place in 1..<places.count where rests[place] > rests[most] { most = place }
            values[most] += 1
            rests[most] = -1
            missing -= 1
        }
        for place in 0..<places.count { weights.append(Int8(values[place])) }
        return places.lowerBound
    }

    /// The kernel at `distance` / `side`, times 5 * `side`³; at sizes up to 8192 no step overflows.
    private static func kernel(_ distance: Int, _ side: Int) -> Int {
        let (d, s) = (distance, side)
        return d < s
            ? (7 * d - 12 * s) * d * d + 5 * s * s * s
            : d < 2 * s ? -3 * (((d - 5 * s) * d + 8 * s * s) * d - 4 * s * s * s) : 0
    }
}

extension Int {
    /// The quotient, rounded towards negative infinity.
    fileprivate func flooredQuotient(_ divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
