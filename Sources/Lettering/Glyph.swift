/// A place in a glyph, in units of which a capital letter is 14 high: from the glyph's left, and up from the baseline.
package struct GlyphPoint: Equatable, Sendable {
    package var x: Float
    package var y: Float

    package init(_ x: Float, _ y: Float) { (self.x, self.y) = (x, y) }
}

/// The picture of one character: lines that a pen follows, with curves already broken into short ones.
package struct Glyph: Equatable, Sendable {
    /// Each at least one point; a stroke of one point is a dot.
    package let strokes: [[GlyphPoint]]
    /// From the leftmost point to the rightmost; the pen's own width comes on top.
    package let width: Float
}
