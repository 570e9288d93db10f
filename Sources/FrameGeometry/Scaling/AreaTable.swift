/// The source samples and weights for each sample of a scaled row or column. A pure value.
///
/// Shrinking averages areas; enlarging interpolates linearly between the centres of samples. Neither of them rings or
/// leaves the samples' range. Weights are in 1/256 and add up to 1, so that flat areas stay flat.
struct AreaTable {
    /// `count` source samples from `first` on, with the weights from `weights` on.
    struct Taps {
        let first: Int32
        let count: Int32
        let weights: Int32
    }

    let from: Int
    let to: Int
    let taps: [Taps]
    let weights: [UInt16]

    var isIdentity: Bool { from == to }
    var enlarges: Bool { to > from }

    static let none = AreaTable(from: 0, to: 0)

    /// The maximum number of source samples for one sample.
    var greatestCount: Int { taps.reduce(0) { max($0, Int($1.count)) } }

    /// The period after which the grids of `from` and `to` coincide again. `repeats` tells which samples have the same
    /// weights as the sample one period before, with source samples one such distance further on.
    var repetition: (period: Int, repeats: [Bool]) {
        var (divisor, rest) = (from, to)
        while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
        let (period, distance) = (to / max(1, divisor), from / max(1, divisor))
        let repeats = taps.indices.map { index in
            guard index >= period else { return false }
            let (tap, other) = (taps[index], taps[index - period])
            return tap.first == other.first + Int32(distance) && tap.count == other.count
                && (0..<Int(tap.count)).allSatisfy {
                    weights[Int(tap.weights) + $0] == weights[Int(other.weights) + $0]
                }
        }
        return (period, repeats)
    }

    init(from: Int, to: Int) {
        self.from = from
        self.to = to
        var taps: [Taps] = []
        var weights: [UInt16] = []
        taps.reserveCapacity(to)
        weights.reserveCapacity(Self.greatestWeightCount(from: from, to: to))
        for index in 0..<to {
            let first: Int
            let start = weights.count
            if to > from {
                first = Self.appendInterpolation(at: index, from, to, &weights)
            } else {
                first = Self.appendArea(at: index, from, to, &weights)
            }
            taps.append(
                Taps(first: Int32(first), count: Int32(weights.count - start), weights: Int32(start)))
        }
        self.taps = taps
        self.weights = weights
    }

    /// Neighbouring areas share at most one sample; interpolation takes two samples for each.
    private static func greatestWeightCount(from: Int, to: Int) -> Int { max(from + to, 2 * to) }

    /// The size of a table in bytes.
    static func memoryBytes(from: Int, to: Int) -> Int {
        to * MemoryLayout<Taps>.stride + greatestWeightCount(from: from, to: to) * MemoryLayout<UInt16>.stride
    }

    /// Appends the samples under `index * from / to ..< (index + 1) * from / to`, in units of 1/to of a sample. The
    /// running sum is rounded, so no weight is off by more than 1, and the weights add up. Samples with weight zero at
    /// either end are left out, so a weight of 256 is always alone.
    private static func appendArea(at index: Int, _ from: Int, _ to: Int, _ weights: inout [UInt16]) -> Int {
        let (start, end) = (index * from, (index + 1) * from)
        var first = start / to
        var given = 0
        for sample in start / to...(end - 1) / to where given < 256 {
            let covered = min((sample + 1) * to, end) - start
            let sum = (covered * 256 + from / 2) / from
            if sum == 0 {
                first = sample + 1
            } else {
                weights.append(UInt16(sum - given))
            }
            given = sum
        }
        return first
    }

    /// Appends the two samples around the place, or one sample near the edge of the picture.
    private static func appendInterpolation(
        at index: Int, _ from: Int, _ to: Int, _ weights: inout [UInt16]
    ) -> Int {
        // In 1/512 of a sample, from centre to centre.
        let place = max(0, min((from - 1) * 512, ((2 * index + 1) * from * 256 + to / 2) / to - 256))
        let (first, second) = (place / 512, UInt16((place % 512 + 1) / 2))
        if second < 256 { weights.append(256 - second) }
        if second > 0 { weights.append(second) }
        return second < 256 ? first : first + 1
    }
}
