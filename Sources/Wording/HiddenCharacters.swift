extension Unicode.Scalar {
    /// Whether the character is invisible and changes the text around it. These are control characters, format
    /// characters (including marks for the direction of writing), line separators and paragraph separators (Cc, Cf, Zl,
    /// Zp).
    ///
    /// Foreign text is logged or shown in a terminal without them. They could start terminal commands, forge lines, or
    /// make a text read differently.
    package var isControlOrFormat: Bool {
        if value < 0x80 { return value < 0x20 || value == 0x7f }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The JSON escape sequence: `\u202e`, or two of them beyond U+FFFF.
    package var escapedForJSON: String {
        String(self).utf16.reduce(into: "") { text, unit in
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

extension String {
    /// The text with a question mark in place of each control and format character.
    package var withHiddenCharactersReplaced: String {
        String(UnicodeScalarView(unicodeScalars.map { $0.isControlOrFormat ? "?" : $0 }))
    }

    /// The text with all control and format characters in JSON's escaped form.
    package var withHiddenCharactersEscaped: String {
        guard unicodeScalars.contains(where: \.isControlOrFormat) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isControlOrFormat {
                text += scalar.escapedForJSON
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
