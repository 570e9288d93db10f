/// Base64 of RFC 4648, section 4: with padding and without line breaks.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0...group.count { text.append(alphabet[word >> (18 - 6 * digit) & 63]) }
            text += repeatElement(UInt8(ascii: "="), count: 3 - group.count)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns nil for a text with other characters or wrong padding. Padding may be missing as a whole.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8.prefix { $0 != UInt8(ascii: "=") })
        let padding = text.utf8.count - digits.count
        guard text.utf8.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") }), digits.count % 4 != 1,
            padding == 0 || (padding <= 2 && text.utf8.count % 4 == 0)
        else { return nil }
        var bytes: [UInt8] = []
        var (word, bits) = (0, 0)
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            word = (word << 6 | value) & 0xFFFF
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> bits))
        }
        return bytes
    }
}
