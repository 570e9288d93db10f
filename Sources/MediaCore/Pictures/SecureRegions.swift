/// The parts of a stored picture that must not be shown: rectangles in its own pixels, before it is turned, or the
/// whole picture.
///
/// A value without heap memory, so that a frame with regions allocates nothing. Rectangles are clipped to the picture.
/// Empty ones hide nothing and are not kept.
package struct SecureRegions: Equatable, Sendable {
    /// The maximum number of rectangles that the client gives with one picture, and that of standing regions.
    package static let capacityPerSource = 64
    /// The maximum number of rectangles in one picture: of its client and standing ones.
    package static let capacity = Rectangles.count
    private typealias Rectangles = InlineArray<128, Rectangle>

    /// In pixels from the picture's top left corner; `right` and `bottom` are exclusive. Within the picture and not
    /// empty.
    package struct Rectangle: Equatable, Sendable {
        package let left, top, right, bottom: UInt16
    }

    /// Whether the whole picture is hidden (protected content).
    package var coversAll = false
    package private(set) var count = 0
    private var kept = Rectangles(repeating: Rectangle(left: 0, top: 0, right: 0, bottom: 0))

    /// Hides nothing.
    package init() {}

    package var isEmpty: Bool { !coversAll && count == 0 }

    /// The rectangle `index`, from 0 up to `count`.
    package subscript(index: Int) -> Rectangle {
        precondition(index < count, "there is no such rectangle")
        return kept[index]
    }

    /// Hides a rectangle of a picture of `pictureWidth` x `pictureHeight` pixels, at most 65,535 each.
    ///
    /// - Parameters:
    ///   - x, y: can be negative.
    ///   - width, height: not negative. None of the four values exceeds 32 bits.
    package mutating func hide(
        x: Int, y: Int, width: Int, height: Int, pictureWidth: Int, pictureHeight: Int
    ) {
        let (left, right) = (max(0, x), min(pictureWidth, x + width))
        let (top, bottom) = (max(0, y), min(pictureHeight, y + height))
        guard left < right, top < bottom else { return }
        guard count < Self.capacity else { return coversAll = true }
        kept[count] = Rectangle(
            left: UInt16(left), top: UInt16(top), right: UInt16(right), bottom: UInt16(bottom))
        count += 1
    }

    package static func == (a: SecureRegions, b: SecureRegions) -> Bool {
        a.coversAll == b.coversAll && a.count == b.count && (0..<a.count).allSatisfy { a.kept[$0] == b.kept[$0] }
    }
}
