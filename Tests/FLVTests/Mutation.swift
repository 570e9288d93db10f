import SeededRandom

extension SplitMix64 {
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
