/// A point of a glyph, from its left edge and up from the baseline. A capital letter is 14 units high.
package struct GlyphPoint: Equatable, Sendable {
    package var x: Float
    package var y: Float

    package init(_ x: Float, _ y: Float) { (self.x, self.y) = (x, y) }
}

/// The shape of one character: lines that a pen follows. Curves are already broken into short lines.
package struct Glyph: Equatable, Sendable {
    /// Each stroke has at least one point. A stroke of one point is a dot.
    package let strokes: [[GlyphPoint]]
    /// The distance from the leftmost point to the rightmost, without the width of the pen.
    package let width: Float
}
