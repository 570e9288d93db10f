/// Writes H.264's bit syntax, to make parameter sets that no encoder at hand makes.
struct BitWriter {
    private var bits: [UInt8] = []

    mutating func put(_ value: Int, bits count: Int) {
        for shift in (0..<count).reversed() { bits.append(UInt8(value >> shift & 1)) }
    }

    mutating func flag(_ value: Bool) { put(value ? 1 : 0, bits: 1) }

    mutating func unsigned(_ value: Int) {
        let width = Int.bitWidth - (value + 1).leadingZeroBitCount
        put(0, bits: width - 1)
        put(value + 1, bits: width)
    }

    mutating func signed(_ value: Int) { unsigned(value > 0 ? 2 * value - 1 : -2 * value) }

    /// A NAL unit: header, the bits with a stop bit, emulation prevention.
    func nal(header: UInt8) -> [UInt8] {
        var padded = bits + [1]
        while padded.count % 8 != 0 { padded.append(0) }
        var nal = [header]
        var zeros = 0
        for start in stride(from: 0, to: padded.count, by: 8) {
            let byte = padded[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
            if zeros == 2, byte <= 3 {
                nal.append(3)
                zeros = 0
            }
            nal.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return nal
    }
}
