extension Unicode.Scalar {
    /// Whether it shows nothing itself and changes what stands around it: control characters, format characters (marks
    /// that turn the direction of writing among them), line and paragraph separators (Cc, Cf, Zl, Zp).
    ///
    /// Text from elsewhere goes to a log or a terminal without them: there they can start commands of the terminal,
    /// forge lines, and make a text read as another.
    package var isControlOrFormat: Bool {
        if value < 0x80 { return value < 0x20 || value == 0x7f }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// As JSON writes what cannot stand for itself: `\u202e`, and two of them beyond U+FFFF.
    package var escapedForJSON: String {
        String(self).utf16.reduce(into: "") { text, unit in
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

extension String {
    /// The text with every control and format character as JSON would escape it.
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
