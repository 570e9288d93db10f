/// A small seeded generator (Steele, Lea, Flood 2014), so that a failing property test fails again.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// `bytes` with one to four bytes changed, removed, repeated or cut off at the end.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !result.isEmpty {
            let index = Int.random(in: 0..<result.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: result[index] = UInt8.random(in: 0...255, using: &self)
            case 1: result[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: result.remove(at: index)
            case 3: result.insert(result[index], at: index)
            default: result.removeLast(result.count - index)
            }
        }
        return result
    }
}
