/// What of a stored picture may differ from an earlier one: rectangles in its own pixels, before it is turned. What
/// lies in none of them is, byte for byte, what it was.
///
/// A value without memory of its own, so that a frame with damage allocates nothing.
package struct PictureDamage: Equatable, Sendable {
    /// The most rectangles of one picture.
    package static let capacity = 16

    /// Pixels from the picture's top left corner; not empty.
    package struct Rectangle: Equatable, Sendable {
        package let x, y, width, height: UInt16

        package init(x: UInt16, y: UInt16, width: UInt16, height: UInt16) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }

        /// Rows from its first to its last.
        package var rows: Range<Int> { Int(y)..<Int(y) + Int(height) }

        /// Whether all of it lies in a picture of that size, and it is not empty.
        package func lies(inWidth pictureWidth: Int, height pictureHeight: Int) -> Bool {
            width > 0 && height > 0 && Int(x) + Int(width) <= pictureWidth && Int(y) + Int(height) <= pictureHeight
        }
    }

    package private(set) var count = 0
    private var kept = InlineArray<16, Rectangle>(repeating: Rectangle(x: 0, y: 0, width: 0, height: 0))

    /// Nothing differs.
    package init() {}

    /// The rectangle `index`, from 0 up to `count`.
    package subscript(index: Int) -> Rectangle {
        precondition(index < count, "there is no such rectangle")
        return kept[index]
    }

    /// One rectangle more; false where there is no room for it.
    package mutating func add(_ rectangle: Rectangle) -> Bool {
        guard count < Self.capacity else { return false }
        kept[count] = rectangle
        count += 1
        return true
    }

    package static func == (a: PictureDamage, b: PictureDamage) -> Bool {
        a.count == b.count && (0..<a.count).allSatisfy { a.kept[$0] == b.kept[$0] }
    }
}
