/// The edges of a rectangle; `right` and `bottom` are exclusive. All values are allowed.
package struct RectEdges: Equatable, Sendable {
    package var left, top, right, bottom: Double

    package init(left: Double, top: Double, right: Double, bottom: Double) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }
}

extension UprightTransform {
    /// The place of an upright picture's rectangle in the stored picture, which has `width` x `height` pixels.
    package func stored(_ upright: RectEdges, width: Double, height: Double) -> RectEdges {
        let (l, t, r, b) = (upright.left, upright.top, upright.right, upright.bottom)
        return switch self {
        case .identity: upright
        case .mirrorHorizontal: RectEdges(left: width - r, top: t, right: width - l, bottom: b)
        case .rotate180: RectEdges(left: width - r, top: height - b, right: width - l, bottom: height - t)
        case .mirrorVertical: RectEdges(left: l, top: height - b, right: r, bottom: height - t)
        case .transpose: RectEdges(left: t, top: l, right: b, bottom: r)
        case .rotate90Clockwise: RectEdges(left: t, top: height - r, right: b, bottom: height - l)
        case .transverse: RectEdges(left: width - b, top: height - r, right: width - t, bottom: height - l)
        case .rotate270Clockwise: RectEdges(left: width - b, top: l, right: width - t, bottom: r)
        }
    }

    /// The place of a stored picture's rectangle in the upright one. The stored picture has `width` x `height` pixels.
    package func upright(_ stored: RectEdges, width: Double, height: Double) -> RectEdges {
        // Each transform is its own inverse, except the quarter turns, which are each other's. Sizes are then those of
        // the upright picture.
        let inverse: UprightTransform =
            switch self {
            case .rotate90Clockwise: .rotate270Clockwise
            case .rotate270Clockwise: .rotate90Clockwise
            default: self
            }
        return inverse.stored(
            stored, width: swapsAxes ? height : width, height: swapsAxes ? width : height)
    }
}
