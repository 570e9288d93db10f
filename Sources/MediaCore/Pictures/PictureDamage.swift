/// The parts of a stored picture that may differ from an earlier one: rectangles in its own pixels, before it is
/// turned. All pixels outside of them are unchanged, byte for byte.
///
/// A value without heap memory, so that a frame with damage allocates nothing.
package struct PictureDamage: Equatable, Sendable {
    /// The maximum number of rectangles in one picture.
    package static let capacity = 16

    /// In pixels from the picture's top left corner; not empty.
    package struct Rectangle: Equatable, Sendable {
        package let x, y, width, height: UInt16

        package init(x: UInt16, y: UInt16, width: UInt16, height: UInt16) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }

        /// The rows that the rectangle covers.
        package var rows: Range<Int> { Int(y)..<Int(y) + Int(height) }

        /// Whether the rectangle is not empty and lies within a picture of that size.
        package func lies(inWidth pictureWidth: Int, height pictureHeight: Int) -> Bool {
            width > 0 && height > 0 && Int(x) + Int(width) <= pictureWidth && Int(y) + Int(height) <= pictureHeight
        }
    }

    package private(set) var count = 0
    private var kept = InlineArray<16, Rectangle>(repeating: Rectangle(x: 0, y: 0, width: 0, height: 0))

    /// No damage.
    package init() {}

    /// The rectangle `index`, from 0 up to `count`.
    package subscript(index: Int) -> Rectangle {
        precondition(index < count, "there is no such rectangle")
        return kept[index]
    }

    /// Adds a rectangle. Returns false if there is no room.
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
