import ControlClient

/// A line of `top`: pieces of printable text, each with its colour.
struct TopLine {
    enum Colour: String {
        case plain = ""
        case faint = "2"
        case bold = "1"
        case good = "32"
        case warning = "33"
        case bad = "31"
        case curve = "36"
        /// Dark on red.
        case alarm = "1;37;41"
    }

    private var pieces: [(text: String, colour: Colour)] = []

    init(_ text: String = "", _ colour: Colour = .plain) { add(text, colour) }

    /// Appends text and makes it printable.
    mutating func add(_ text: String, _ colour: Colour = .plain) {
        if !text.isEmpty { pieces.append((TerminalText.printable(text), colour)) }
    }

    mutating func add(_ line: TopLine) { pieces += line.pieces }

    var width: Int { pieces.reduce(0) { $0 + TerminalText.width($1.text) } }

    /// Moves to a column, or by two spaces if the line is already past it.
    mutating func tab(to column: Int) {
        let width = width
        add(String(repeating: " ", count: width == 0 ? max(0, column) : max(2, column - width)))
    }

    /// The line as lines of at most `cells` cells, broken between words.
    ///
    /// - Parameter indent: cells before all lines but the first.
    func wrapped(to cells: Int, indent: Int) -> [TopLine] {
        guard width > cells else { return [self] }
        let characters = pieces.flatMap { piece in piece.text.map { ($0, piece.colour) } }
        return TerminalText.wrapped(characters, to: cells, indent: indent).map { part in
            var line = TopLine(String(repeating: " ", count: part.indent))
            var rest = part.text
            while let colour = rest.first?.1 {
                let same = rest.prefix { $0.1 == colour }
                line.add(String(same.map(\.0)), colour)
                rest = rest.dropFirst(same.count)
            }
            return line
        }
    }

    /// The same line in one colour.
    func coloured(_ colour: Colour) -> TopLine {
        var line = self
        line.pieces = pieces.map { ($0.text, colour) }
        return line
    }

    /// At most `cells` cells of the line, with or without colours (ECMA-48, SGR).
    func rendered(_ cells: Int, inColour: Bool) -> String {
        var left = cells
        var text = ""
        for piece in pieces where left > 0 {
            let shown = TerminalText.fitted(piece.text, to: left)
            left = shown == piece.text ? left - TerminalText.width(shown) : 0
            text += inColour && piece.colour != .plain ? "\u{1B}[\(piece.colour.rawValue)m\(shown)\u{1B}[0m" : shown
        }
        return text
    }
}
