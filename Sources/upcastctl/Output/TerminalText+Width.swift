import ControlClient

/// Fits text into a number of terminal cells.
extension TerminalText {
    /// The number of cells for printable text.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    /// The text, cut to `cells` cells. A cut text ends with an ellipsis.
    static func fitted(_ text: String, to cells: Int) -> String {
        guard width(text) > cells else { return text }
        guard cells > 0 else { return "" }
        var (kept, used) = ("", 0)
        for character in text {
            used += width(character)
            guard used <= cells - 1 else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// The text, cut or filled with spaces to exactly `cells` cells.
    static func padded(_ text: String, to cells: Int) -> String {
        let text = fitted(text, to: cells)
        return text + String(repeating: " ", count: max(0, cells - width(text)))
    }

    private static func width(_ character: Character) -> Int {
        var cells = 0
        for scalar in character.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: continue
            default: cells = max(cells, wide.contains { $0.contains(scalar.value) } ? 2 : 1)
            }
        }
        return cells
    }

    /// East Asian wide and fullwidth (Unicode Standard Annex 11), and pictographs, in whole blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
