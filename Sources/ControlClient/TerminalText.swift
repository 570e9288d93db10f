/// Text from elsewhere, made fit for a terminal and for messages: nothing in it acts on a terminal. Pure.
package enum TerminalText {
    /// Names come from clients and errors from servers. Control characters, line separators and what turns the
    /// direction of writing become a question mark.
    package static func printable(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isSafe(scalar) ? scalar : "?") }
        return String(shown)
    }

    /// JSON text in which every such character stands as `\u009b`, which means the same to whoever parses it.
    ///
    /// Such characters are in strings only; line breaks between members stay.
    package static func printable(json bytes: [UInt8]) -> String {
        var shown = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            guard !isSafe(scalar), scalar != "\n" else {
                shown.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return shown
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x20, 0x7F...0x9F: false
        // Line and paragraph separators; marks, embeddings, overrides and isolates of writing direction.
        case 0x2028...0x202E, 0x200E...0x200F, 0x2066...0x2069, 0x061C: false
        default: true
        }
    }
}
