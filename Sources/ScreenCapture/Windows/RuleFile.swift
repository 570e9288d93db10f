internal import Grabbing

/// The format of a file of rules: one rule on each line, empty lines, and comments. Pure.
///
/// `#` begins a comment at the start of a line, or between spaces. Within a word it is an ordinary character, and `\#`
/// is one everywhere. A `#` after a space and before another character could be either. It is refused, because a rule
/// that is cut short hides less than its author means.
enum RuleFile {
    /// The lines, without the byte order mark that some editors write.
    static func lines(_ text: String) -> [Substring] {
        let begin = text.unicodeScalars.first == "\u{feff}" ? text.unicodeScalars.index(after: text.startIndex) : nil
        return text[(begin ?? text.startIndex)...].split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// The rule on a line; nil for an empty line or a comment.
    ///
    /// - Throws: for a `#` that may belong to the rule or begin a comment.
    static func rule(_ line: Substring) throws(ScreenError) -> String? {
        var rule = ""
        var last: Character = " "
        var isInRule = false
        var rest = line
        while let character = rest.popFirst() {
            if character == "#", last == "\\" {
                rule.removeLast()
            } else if character == "#", last.isWhitespace {
                guard !isInRule || rest.first?.isWhitespace ?? true else {
                    throw ScreenError(
                        "\"\(trimmed(line))\" may have a comment, or not: write \\# for a # of the pattern, or a space "
                            + "after the # of a comment")
                }
                break
            }
            rule.append(character)
            if !character.isWhitespace { isInRule = true }
            last = character
        }
        let text = trimmed(rule[...])
        return text.isEmpty ? nil : text
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
