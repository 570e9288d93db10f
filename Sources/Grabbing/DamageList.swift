package import UpcastClient

/// The parts of a frame that may differ from the last frame that was sent. Pure.
package struct DamageList: Equatable, Sendable {
    private var rectangles: [CaptureRectangle] = []
    private var isAll = true
    private static let capacity = 64

    package init() {}

    /// Anything may have changed.
    package mutating func noteAll() { isAll = true }

    /// - Parameter rectangle: in pixels of the frame.
    package mutating func note(_ rectangle: CaptureRectangle) {
        guard !isAll else { return }
        if rectangles.count >= Self.capacity { isAll = true } else { rectangles.append(rectangle) }
    }

    /// - Parameters:
    ///   - rectangle: in pixels of the whole screen.
    ///   - area: the part of the screen that the frame shows.
    package mutating func note(_ rectangle: CaptureRectangle, in area: CaptureRectangle) {
        if let inside = rectangle.intersection(area) { note(inside.relative(to: area)) }
    }

    /// A frame with all these changes was sent.
    package mutating func clear() {
        rectangles.removeAll(keepingCapacity: true)
        isAll = false
    }

    /// The damage to send with a frame; nil if all of it may differ.
    package var damage: CaptureDamage? { isAll ? nil : CaptureDamage(rectangles) }

    /// Whether nothing differs.
    package var isEmpty: Bool { !isAll && rectangles.isEmpty }
}
