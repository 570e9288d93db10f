import ControlClient

/// A line of `top`: pieces of printable text, each in its colour.
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

    /// Text from elsewhere is made printable here.
    mutating func add(_ text: String, _ colour: Colour = .plain) {
        if !text.isEmpty { pieces.append((TerminalText.printable(text), colour)) }
    }

    var width: Int { pieces.reduce(0) { $0 + TerminalText.width($1.text) } }

    /// Moves on to a column; where that has been passed, by two spaces.
    mutating func tab(to column: Int) { add(String(repeating: " ", count: max(2, column - width))) }

    /// At most so many cells of it, with or without colours (ECMA-48, SGR).
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
