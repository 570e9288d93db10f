/// Texts of a message: UTF-8, bounded, one behind the other after the fixed fields, together padded to four bytes.
enum WireText {
    /// The text at `start` whose length, checked by `MessageBody`, stands at `lengthAt`. It comes back fit for a log:
    /// broken UTF-8 is repaired with U+FFFD, and whatever could move a cursor, break a line or turn the direction of
    /// writing is replaced by it.
    static func decode(_ body: RawSpan, from start: Int, lengthAt: Int) -> String {
        let range = start..<(start + Int(body.uint16(at: lengthAt)))
        return sanitised(unsafe body.withUnsafeBytes { unsafe String(decoding: $0[range], as: UTF8.self) })
    }

    static func sanitised(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnwelcome) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(isUnwelcome(scalar) ? "\u{fffd}" : scalar) }
        return String(scalars)
    }

    private static func isUnwelcome(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0, DEL and C1; marks, embeddings and isolates of direction; line and paragraph separators.
        case 0...0x1f, 0x7f...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// The whole characters of `text` that fit into `limit` bytes.
    static func bounded(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.startIndex
        var bytes = 0
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > limit { break }
            end = text.unicodeScalars.index(after: end)
        }
        return String(text[..<end])
    }

    /// Bytes of padding behind `count` bytes that make the sum a multiple of four.
    static func padding(after count: Int) -> Int { -count & 3 }
}
