/// The bytes of a text with all percent-encoding decoded (RFC 3986, section 2.1), and their positions in the original.
///
/// Nested encoding is decoded in one pass: `%252D` and `%2D` both become "-".
struct PercentDecodedText {
    private(set) var bytes: [UInt8] = []
    /// For each byte, the position in `spelled` where its spelling begins.
    private var starts: [Int] = []
    /// The original text.
    let spelled: [UInt8]

    init(_ text: String) {
        spelled = Array(text.utf8)
        for (position, byte) in spelled.enumerated() {
            bytes.append(byte)
            starts.append(position)
            // A decoded byte can itself complete an escape: "%2%35" becomes "%25", then "%".
            while let decoded = escapeAtEnd {
                bytes.removeLast(2)
                starts.removeLast(2)
                bytes[bytes.count - 1] = decoded
            }
        }
    }

    /// Returns the position of the bytes of `range` in `spelled`.
    func spelling(of range: Range<Int>) -> Range<Int> { start(of: range.lowerBound)..<start(of: range.upperBound) }

    private func start(of index: Int) -> Int { index < starts.count ? starts[index] : spelled.count }

    private var escapeAtEnd: UInt8? {
        guard bytes.count >= 3, bytes[bytes.count - 3] == UInt8(ascii: "%"),
            let high = Self.hexDigit(bytes[bytes.count - 2]), let low = Self.hexDigit(bytes[bytes.count - 1])
        else { return nil }
        return high << 4 | low
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
