internal import Wording

/// Makes text from other programs safe for terminals and messages: no character in it controls a terminal. Pure.
package enum TerminalText {
    /// Names come from clients and errors from servers. Control and format characters and line separators become a
    /// question mark.
    package static func printable(_ text: String) -> String { text.withHiddenCharactersReplaced }

    /// Escapes such characters in JSON text, for example as `\u009b`, which a parser reads as the same character.
    ///
    /// Such characters are in strings only; line breaks between members stay.
    package static func printable(json bytes: [UInt8]) -> String {
        var shown = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar.isControlOrFormat, scalar != "\n" {
                shown += scalar.escapedForJSON
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
