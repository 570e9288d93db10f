/// A text's bytes after all percent-encoding is undone (RFC 3986, section 2.1), and how each of them was spelled.
///
/// Encoding of encoded text is undone as well, in one pass: `%252D` and `%2D` are both "-".
struct PercentDecodedText {
    private(set) var bytes: [UInt8] = []
    /// Where the spelling of each byte begins in `spelled`.
    private var starts: [Int] = []
    /// The text as it was.
    let spelled: [UInt8]

    init(_ text: String) {
        spelled = Array(text.utf8)
        for (position, byte) in spelled.enumerated() {
            bytes.append(byte)
            starts.append(position)
            // A byte that is decoded can end an escape itself: "%2%35" is "%25", which is "%".
            while let decoded = escapeAtEnd {
                bytes.removeLast(2)
                starts.removeLast(2)
                bytes[bytes.count - 1] = decoded
            }
        }
    }

    /// Where the bytes of `range` are in `spelled`.
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
