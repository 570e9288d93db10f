/// Texts of a message: UTF-8, bounded, one after the other behind the fixed fields, together padded to four bytes.
enum WireText {
    /// The text at `start`. Its length, which `MessageBody` has checked, is at `lengthAt`. The result is fit for a log:
    /// U+FFFD replaces broken UTF-8, and whatever could move a cursor, break a line or change the direction of writing.
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

    /// The bytes of padding after `count` bytes that make the sum a multiple of four.
    static func padding(after count: Int) -> Int { -count & 3 }
}
