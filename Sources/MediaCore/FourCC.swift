/// Four ASCII characters that name a format, as in Core Video and FLV. The first character is the most significant
/// byte.
package struct FourCC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The four characters of a literal such as `"420v"`. Traps on any other length, which is a programming error.
    package init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4, "a FourCC has four ASCII characters")
        rawValue = text.withUTF8Buffer { unsafe $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The four characters, or hexadecimal if one of them is not printable ASCII. Safe for logs.
    package var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> (24 - 8 * $0)) }
        guard bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return "0x" + String(rawValue, radix: 16) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
