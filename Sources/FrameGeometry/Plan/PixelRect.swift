/// A rectangle of whole pixels, origin at the top left.
package struct PixelRect: Hashable, Sendable, CustomStringConvertible {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The X geometry notation: `1280x720+0+280`.
    package var description: String { "\(width)x\(height)+\(x)+\(y)" }
}
