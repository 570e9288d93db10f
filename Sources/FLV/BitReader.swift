/// Reads bits, most significant first, and H.264's Exp-Golomb codes (ISO/IEC 14496-10, 9.1). Never reads past the end.
struct BitReader {
    private let bytes: [UInt8]
    private let name: String
    private var position = 0

    /// - Parameter name: the structure's name for errors.
    init(_ bytes: [UInt8], name: String) {
        self.bytes = bytes
        self.name = name
    }

    /// Reads up to 32 bits as a number.
    mutating func bits(_ count: Int) throws(CodecConfigurationError) -> UInt32 {
        guard position + count <= bytes.count * 8 else { throw .truncated(name) }
        var value: UInt32 = 0
        for index in position..<(position + count) {
            value = value << 1 | UInt32(bytes[index >> 3] >> (7 - UInt8(index & 7)) & 1)
        }
        position += count
        return value
    }

    mutating func flag() throws(CodecConfigurationError) -> Bool { try bits(1) == 1 }

    /// ue(v): an unsigned Exp-Golomb code of at most 32 bits.
    mutating func unsignedExpGolomb() throws(CodecConfigurationError) -> UInt32 {
        var zeros = 0
        while try bits(1) == 0 {
            zeros += 1
            guard zeros < 32 else { throw .invalid(name) }
        }
        return (1 << UInt32(zeros)) - 1 + (try bits(zeros))
    }

    /// se(v): a signed Exp-Golomb code.
    mutating func signedExpGolomb() throws(CodecConfigurationError) -> Int32 {
        let code = try unsignedExpGolomb()
        let magnitude = Int32(truncatingIfNeeded: code / 2 + code % 2)  // code < 2^32 - 1, so this is < 2^31
        return code % 2 == 1 ? magnitude : -magnitude
    }
}
