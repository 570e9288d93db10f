/// The letters of Latin alphabets as strokes of a pen: ASCII, Latin-1, and the other letters of Europe's languages. The
/// dot letters of the test pattern have no room for accents and do not scale well.
///
/// It is made from its table at each use, from a few hundred short strings. The caller keeps it as long as it needs it.
/// A value: any thread.
package struct StrokeFont: Sendable {
    /// All lengths are in units; a capital letter is 14 units high.
    package static let capitalHeight: Float = 14
    package static let linePitch: Float = 28
    package static let penWidth: Float = 2.2
    /// The distance between the outermost points of two glyphs.
    package static let spacing: Float = 4.6
    package static let spaceWidth: Float = 3.4

    private var sources: [Character: [Substring]] = [:]
    private var marks: [Character: (base: Character, mark: Substring)] = [:]

    package init() {
        for line in Self.drawn.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if let character = parts.first?.first { sources[character] = Array(parts.dropFirst()) }
        }
        for line in Self.marked.split(separator: "\n") {
            let parts = line.split(separator: " ")
            for pair in parts.dropFirst() {
                if let letter = pair.first, let base = pair.last { marks[letter] = (base, parts[0]) }
            }
        }
    }

    /// Whether the font has a glyph for the character, or it is a space.
    package func has(_ character: Character) -> Bool {
        Self.isSpace(character) || sources[character] != nil || marks[character] != nil
    }

    /// The first character that is neither a line break nor in the font.
    package func firstMissing(in text: String) -> Character? { text.first { $0 != "\n" && !has($0) } }

    /// Nil for a character that the font does not have.
    package func glyph(of character: Character) -> Glyph? {
        if Self.isSpace(character) { return Glyph(strokes: [], width: Self.spaceWidth) }
        if let strokes = sources[character] { return Self.glyph(strokes.map(Self.stroke)) }
        guard let (base, mark) = marks[character], let under = sources[base]?.map(Self.stroke) else { return nil }
        let (left, right) = Self.extent(under)
        let top = under.joined().map(\.y).max() ?? 0
        // Marks are drawn over a small letter that is eight wide. Marks below the letter do not move up.
        let isBelow = mark.hasPrefix("~45")
        let (over, up) = ((left + right) / 2 - 4, isBelow ? 0 : max(0, top - 10))
        let marks = mark.split(separator: "+").map { stroke in
            Self.stroke(stroke).map { GlyphPoint($0.x + over, $0.y + up) }
        }
        return Self.glyph(under + marks)
    }

    /// The distance from one glyph's left edge to the next.
    package static func advance(_ glyph: Glyph) -> Float { glyph.width + spacing }

    private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\u{A0}" }

    private static func extent(_ strokes: [[GlyphPoint]]) -> (left: Float, right: Float) {
        let columns = strokes.joined().map(\.x)
        return (columns.min() ?? 0, columns.max() ?? 0)
    }

    /// Makes a glyph with its leftmost point at 0.
    private static func glyph(_ strokes: [[GlyphPoint]]) -> Glyph {
        let (left, right) = extent(strokes)
        return Glyph(
            strokes: strokes.map { $0.map { GlyphPoint($0.x - left, $0.y) } }, width: right - left)
    }
}

extension StrokeFont {
    private static let baseline: Float = 5
    private static let stepsOfCurve = 6

    /// Parses a stroke in the format of `drawn`.
    private static func stroke(_ text: Substring) -> [GlyphPoint] {
        let isClosed = text.first == "o"
        let isCurve = isClosed || text.first == "~"
        let digits = (isCurve ? text.dropFirst() : text).compactMap(\.base36)
        let points = stride(from: 0, to: digits.count - 1, by: 2).map {
            GlyphPoint(Float(digits[$0]), Float(digits[$0 + 1]) - baseline)
        }
        return isCurve ? curve(points, isClosed: isClosed) : points
    }

    /// A quadratic B-spline: it runs through the midpoints of the lines between the points, except at its two ends.
    private static func curve(_ points: [GlyphPoint], isClosed: Bool) -> [GlyphPoint] {
        guard points.count > 2 else { return points }
        let count = points.count
        func middle(_ index: Int) -> GlyphPoint {
            let (a, b) = (points[index % count], points[(index + 1) % count])
            return GlyphPoint((a.x + b.x) / 2, (a.y + b.y) / 2)
        }
        var result = [isClosed ? middle(0) : points[0]]
        for index in 1..<(isClosed ? count + 1 : count - 1) {
            let (from, bend) = (result[result.count - 1], points[index % count])
            let to = isClosed || index < count - 2 ? middle(index) : points[count - 1]
            for step in 1...stepsOfCurve {
                let t = Float(step) / Float(stepsOfCurve)
                let (a, b, c) = ((1 - t) * (1 - t), 2 * t * (1 - t), t * t)
                result.append(GlyphPoint(a * from.x + b * bend.x + c * to.x, a * from.y + b * bend.y + c * to.y))
            }
        }
        return result
    }
}

extension Character {
    /// The value of a digit of base 36.
    fileprivate var base36: Int? {
        guard let value = asciiValue else { return nil }
        return switch value {
        case 0x30...0x39: Int(value) - 0x30
        case 0x61...0x7A: Int(value) - 0x61 + 10
        default: nil
        }
    }
}
