internal import MediaCore

/// The parts of a frame that may differ from the frame that the connection has sent last, for callers that know them,
/// as from a compositor.
///
/// All other pixels must be, byte for byte, what they were then: the daemon may show the earlier frame there.
public struct CaptureDamage: Equatable, Sendable {
    /// Any number. More than 16 are joined into fewer, larger ones. An empty array says that nothing has changed.
    public var rectangles: [CaptureRectangle]

    public init(_ rectangles: [CaptureRectangle]) { self.rectangles = rectangles }

    /// The damage as the daemon takes it, for a frame of this size; nil if nothing in the frame has changed.
    func damage(width: Int, height: Int) -> PictureDamage? {
        var damage = PictureDamage()
        var (count, rest): (Int, CaptureRectangle?) = (0, nil)
        for rectangle in rectangles where rectangle.width > 0 && rectangle.height > 0 {
            // The numbers are unchecked, so their sums must not trap on overflow.
            let (right, bottom) = (
                rectangle.x.addingReportingOverflow(rectangle.width),
                rectangle.y.addingReportingOverflow(rectangle.height)
            )
            let (x, y) = (max(0, rectangle.x), max(0, rectangle.y))
            let end = (right.overflow ? width : min(width, right.0), bottom.overflow ? height : min(height, bottom.0))
            guard x < end.0, y < end.1 else { continue }
            let inside = CaptureRectangle(x: x, y: y, width: end.0 - x, height: end.1 - y)
            count += 1
            if count < PictureDamage.capacity {
                damage.append(inside)
            } else {
                rest = rest?.joined(with: inside) ?? inside
            }
        }
        if let rest { damage.append(rest) }
        return count > 0 ? damage : nil
    }
}

extension CaptureRectangle {
    /// The smallest rectangle that contains both.
    package func joined(with other: Self) -> Self {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return Self(
            x: left, y: top, width: max(x + width, other.x + other.width) - left,
            height: max(y + height, other.y + other.height) - top)
    }
}

extension PictureDamage {
    /// Adds a rectangle that lies in the frame.
    fileprivate mutating func append(_ rectangle: CaptureRectangle) {
        _ = add(
            Rectangle(
                x: UInt16(rectangle.x), y: UInt16(rectangle.y), width: UInt16(rectangle.width),
                height: UInt16(rectangle.height)))
    }
}
