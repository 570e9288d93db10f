internal import Wording

/// Text from elsewhere, made fit for a terminal and for messages: nothing in it acts on a terminal. Pure.
package enum TerminalText {
    /// Names come from clients and errors from servers. Control and format characters and line separators become a
    /// question mark.
    package static func printable(_ text: String) -> String { text.withHiddenCharactersReplaced }

    /// JSON text in which every such character stands as `\u009b`, which means the same to whoever parses it.
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
