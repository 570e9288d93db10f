/// Text broken into lines and scaled to the available space: the position of each glyph.
///
/// Pixels count from the middle of the available space, to the right and down. A value, made once.
package struct TextLayout: Sendable {
    package struct Letter: Equatable, Sendable {
        /// The index in `glyphs`.
        package let glyph: Int
        /// The leftmost point of the glyph.
        package let x: Float
        package let baseline: Float
    }

    /// One glyph for each different character.
    package let glyphs: [Glyph]
    package let letters: [Letter]
    /// The size of one unit of the glyphs in pixels.
    package let scale: Float
    package let width: Float
    package let height: Float

    /// The largest size at which the text fits. There always is one, though it may be too small to read.
    ///
    /// Characters that the font does not have are left out: the configuration has refused them.
    ///
    /// - Parameters:
    ///   - width: the width of the space in pixels, as `height`; both must be more than 0.
    ///   - capitalHeight: the maximum height of a capital letter in pixels.
    package init(_ text: String, width: Float, height: Float, capitalHeight: Float) {
        let font = StrokeFont()
        var glyphs: [Glyph] = []
        var indices: [Character: Int] = [:]
        for character in " " + text where indices[character] == nil {
            guard let glyph = font.glyph(of: character) else { continue }
            indices[character] = glyphs.count
            glyphs.append(glyph)
        }
        let paragraphs = text.split(separator: "\n", omittingEmptySubsequences: false).map { paragraph in
            paragraph.split { $0 == " " }.map { $0.compactMap { indices[$0] } }.filter { !$0.isEmpty }
        }
        var scale = capitalHeight / StrokeFont.capitalHeight
        var lines = Self.lines(paragraphs, glyphs, space: 0, width: width / scale)
        while Self.width(of: lines, glyphs) * scale > width
            || Float(lines.count) * StrokeFont.linePitch * scale > height
        {
            scale *= 0.97
            lines = Self.lines(paragraphs, glyphs, space: 0, width: width / scale)
        }
        self.glyphs = glyphs
        self.scale = scale
        self.width = Self.width(of: lines, glyphs) * scale
        self.height = Float(lines.count) * StrokeFont.linePitch * scale
        // The block from the capitals of the first line to the baseline of the last one is centred.
        let block = Float(lines.count - 1) * StrokeFont.linePitch + StrokeFont.capitalHeight
        let first = StrokeFont.capitalHeight - block / 2
        letters = lines.enumerated().flatMap { index, line in
            var x = -Self.width(of: line, glyphs) / 2 + StrokeFont.penWidth / 2
            return line.map { glyph in
                defer { x += StrokeFont.advance(glyphs[glyph]) }
                return Letter(
                    glyph: glyph, x: x * scale, baseline: (first + Float(index) * StrokeFont.linePitch) * scale)
            }
        }
    }

    /// The width of a line, including that of the pen.
    private static func width(of line: [Int], _ glyphs: [Glyph]) -> Float {
        guard !line.isEmpty else { return 0 }
        return line.reduce(StrokeFont.penWidth - StrokeFont.spacing) { $0 + StrokeFont.advance(glyphs[$1]) }
    }

    /// Lines of glyphs, broken between words, and within a word that is longer than a line.
    ///
    /// - Parameter paragraphs: words of glyphs. `space` is put between two words of the same line.
    private static func lines(_ paragraphs: [[[Int]]], _ glyphs: [Glyph], space: Int, width: Float) -> [[Int]] {
        var lines: [[Int]] = []
        for paragraph in paragraphs {
            var line: [Int] = []
            for word in paragraph {
                let longer = line.isEmpty ? word : line + [space] + word
                if self.width(of: longer, glyphs) <= width {
                    line = longer
                    continue
                }
                if !line.isEmpty { lines.append(line) }
                line = []
                for glyph in word {
                    if !line.isEmpty, self.width(of: line + [glyph], glyphs) > width {
                        lines.append(line)
                        line = []
                    }
                    line.append(glyph)
                }
            }
            lines.append(line)
        }
        return lines
    }

    private static func width(of lines: [[Int]], _ glyphs: [Glyph]) -> Float {
        lines.reduce(0) { max($0, width(of: $1, glyphs)) }
    }
}
