internal import CLibYUV
package import MediaCore

extension PicturePlanes {
    /// How to sample a picture of another size.
    package enum Sampling: Sendable {
        /// The nearest sample; for pictures of equal size, a copy.
        case nearest
        case bilinear
        /// The mean of an area, for a smaller picture.
        case areas
    }

    /// A rectangle of the picture; its coordinates are even.
    package func part(_ rect: PixelRect) -> PicturePlanes {
        let (x, y) = (rect.x / 2, rect.y / 2)
        return unsafe PicturePlanes(
            y: self.y + rect.y * yStride + rect.x, u: u + y * uStride + x, v: v + y * vStride + x, yStride: yStride,
            uStride: uStride, vStride: vStride, width: rect.width, height: rect.height)
    }

    /// Fills the picture with one colour.
    package func fill(_ color: CanvasColor) {
        unsafe _ = I420Rect(
            y, CInt(yStride), u, CInt(uStride), v, CInt(vStride), 0, 0, CInt(width), CInt(height), CInt(color.y),
            CInt(color.u), CInt(color.v))
    }

    /// Scales the picture to all of `target`.
    package func scale(to target: PicturePlanes, _ sampling: Sampling) {
        let filter =
            switch sampling {
            case .nearest: kFilterNone
            case .bilinear: kFilterBilinear
            case .areas: kFilterBox
            }
        unsafe _ = I420Scale(
            y, CInt(yStride), u, CInt(uStride), v, CInt(vStride), CInt(width), CInt(height), target.y,
            CInt(target.yStride), target.u, CInt(target.uStride), target.v, CInt(target.vStride), CInt(target.width),
            CInt(target.height), filter)
    }
}
