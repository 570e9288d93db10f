import ControlClient

extension TerminalText {
    /// Printable text as lines of at most `cells` cells. Lines end at spaces; longer words are cut.
    ///
    /// - Parameter indent: spaces before all lines but the first. The first line is not broken within this many cells.
    static func wrapped(_ text: String, to cells: Int, indent: Int = 0) -> [String] {
        guard width(text) > cells else { return [text] }
        return wrapped(text.map { ($0, ()) }, to: cells, indent: indent).map { line in
            String(repeating: " ", count: line.indent) + String(line.text.map(\.0))
        }
    }

    /// The same for characters with attributes, such as colours.
    static func wrapped<Attribute>(
        _ text: [(Character, Attribute)], to cells: Int, indent: Int
    ) -> [(indent: Int, text: ArraySlice<(Character, Attribute)>)] {
        guard cells > 0 else { return [] }
        // On a very narrow terminal, no cell is spent on indents.
        let indent = indent * 2 <= cells ? indent : 0
        var lines: [(indent: Int, text: ArraySlice<(Character, Attribute)>)] = []
        var rest = text[...]
        while !rest.isEmpty {
            let own = lines.isEmpty ? 0 : indent
            var (end, used) = (rest.startIndex, 0)
            while end < rest.endIndex {
                used += width(String(rest[end].0))
                guard used <= cells - own else { break }
                end += 1
            }
            // A wide character does not fit into a single cell, and is left out.
            guard end > rest.startIndex else {
                rest.removeFirst()
                continue
            }
            if end < rest.endIndex, rest[end].0 != " " {
                let first = rest.startIndex + (lines.isEmpty ? indent : 0)
                if let space = rest[..<end].lastIndex(where: { $0.0 == " " }), space > first { end = space }
            }
            var line = rest[..<end]
            rest = rest[end...].drop { $0.0 == " " }
            if !rest.isEmpty { while line.last?.0 == " " { line.removeLast() } }
            lines.append((own, line))
        }
        return lines
    }
}
