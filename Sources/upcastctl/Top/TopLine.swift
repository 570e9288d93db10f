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
    }

    private var pieces: [(text: String, colour: Colour)] = []

    init(_ text: String = "", _ colour: Colour = .plain) { add(text, colour) }

    /// Appends text and makes it printable.
    mutating func add(_ text: String, _ colour: Colour = .plain) {
        if !text.isEmpty { pieces.append((TerminalText.printable(text), colour)) }
    }

    var width: Int { pieces.reduce(0) { $0 + TerminalText.width($1.text) } }

    /// Moves to a column, or by two spaces if the line is already past it.
    mutating func tab(to column: Int) { add(String(repeating: " ", count: max(2, column - width))) }

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
