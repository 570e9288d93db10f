internal import MediaCore

/// What of a frame may differ from the frame that the connection has sent last, for who knows it: a compositor tells.
///
/// All else is, byte for byte, what it was then: the daemon may show the earlier frame there.
public struct CaptureDamage: Equatable, Sendable {
    /// Any number; more than 16 are joined to fewer that are larger. None says that nothing has changed.
    public var rectangles: [CaptureRectangle]

    public init(_ rectangles: [CaptureRectangle]) { self.rectangles = rectangles }

    /// As the daemon takes it, for a frame of this size; nil where nothing of it has changed.
    func damage(width: Int, height: Int) -> PictureDamage? {
        var damage = PictureDamage()
        var (count, rest): (Int, CaptureRectangle?) = (0, nil)
        for rectangle in rectangles where rectangle.width > 0 && rectangle.height > 0 {
            // Sums of numbers that nobody has checked: none of them overflows.
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
    /// The smallest one that both lie in.
    package func joined(with other: Self) -> Self {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return Self(
            x: left, y: top, width: max(x + width, other.x + other.width) - left,
            height: max(y + height, other.y + other.height) - top)
    }
}

extension PictureDamage {
    /// A rectangle in a frame.
    fileprivate mutating func append(_ rectangle: CaptureRectangle) {
        _ = add(
            Rectangle(
                x: UInt16(rectangle.x), y: UInt16(rectangle.y), width: UInt16(rectangle.width),
                height: UInt16(rectangle.height)))
    }
}
