internal import CPlanes

/// What each sample of a scaled row or column is made of: a pure value.
///
/// Shrinking averages areas, enlarging is bilinear between the samples' centres: neither rings nor leaves the range of
/// the samples. Weights are in 1/256 and add up to 1, so that what is flat stays flat.
struct ResamplingTable {
    let from: Int
    let to: Int
    let taps: [upcast_taps]
    let weights: [UInt16]

    var isIdentity: Bool { from == to }
    var enlarges: Bool { to > from }

    static let none = ResamplingTable(from: 0, to: 0)

    /// The most samples that one is made of.
    var greatestCount: Int { taps.reduce(0) { max($0, Int($1.count)) } }

    /// After how many samples the grids of `from` and `to` meet again, and which samples are made with the weights of
    /// the one so many before, of samples that lie one such distance further on.
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
        var taps: [upcast_taps] = []
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
                upcast_taps(first: Int32(first), count: Int32(weights.count - start), weights: Int32(start)))
        }
        self.taps = taps
        self.weights = weights
    }

    /// Areas share at most one sample with the next; interpolation takes two for each.
    private static func greatestWeightCount(from: Int, to: Int) -> Int { max(from + to, 2 * to) }

    /// Bytes of a table.
    static func memoryBytes(from: Int, to: Int) -> Int {
        to * MemoryLayout<upcast_taps>.stride + greatestWeightCount(from: from, to: to) * MemoryLayout<UInt16>.stride
    }

    /// The samples under `index * from / to ..< (index + 1) * from / to`, in units of 1/to of a sample. Rounding is
    /// done on the sum so far: no weight is off by more than 1, and they add up. What weighs nothing at either end is
    /// left out, so that a weight of 256 is always alone.
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

    /// The two samples around the place, nearer the picture's edge that one alone.
    private static func appendInterpolation(
        at index: Int, _ from: Int, _ to: Int, _ weights: inout [UInt16]
    ) -> Int {
        // In 1/512 of a sample, centre on centre.
        let place = max(0, min((from - 1) * 512, ((2 * index + 1) * from * 256 + to / 2) / to - 256))
        let (first, second) = (place / 512, UInt16((place % 512 + 1) / 2))
        if second < 256 { weights.append(256 - second) }
        if second > 0 { weights.append(second) }
        return second < 256 ? first : first + 1
    }
}
