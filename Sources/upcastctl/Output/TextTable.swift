import ControlClient

/// Rows of cells as aligned lines. Pure.
enum TextTable {
    /// The cells are made printable. Two spaces separate columns, and the last one is not filled up.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(TerminalText.printable) }
        let count = rows.reduce(0) { max($0, $1.count) }
        let widths = (0..<count).map { column in
            rows.reduce(0) { max($0, column < $1.count ? TerminalText.width($1[column]) : 0) }
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : TerminalText.padded(cell, to: widths[column])
            }.joined(separator: "  ")
        }
    }
}
