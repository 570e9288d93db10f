internal import CXCB
internal import UpcastClient

/// A small pattern that lies above all windows, in known places. Pure.
///
/// A compositing manager shows it like any window. A picture without it shows windows elsewhere, as under a zoom.
enum ReferenceMark {
    static let side = Int(UPCAST_X_MARK_SIDE)
    /// Whether a pixel of the pattern is grey, not black; row by row.
    static let isGrey = (0..<side * side).map { upcast_x_mark_is_grey(UInt32($0 % side), UInt32($0 / side)) }
    /// The smallest difference between grey and black pixels. Without translucency, it is about 63 of 255.
    static let contrast = 24

    /// Opposite corners: a zoom that leaves one pattern as it is moves the other.
    static func places(in area: CaptureRectangle) -> [CaptureRectangle] {
        [
            CaptureRectangle(x: area.x, y: area.y, width: side, height: side),
            CaptureRectangle(
                x: area.x + area.width - side, y: area.y + area.height - side, width: side, height: side),
        ]
    }

    /// Whether a window has the size of a mark. Hardly any other window has it.
    static func isSize(of place: CaptureRectangle) -> Bool { place.width == side && place.height == side }

    /// Whether a picture shows the mark exactly in its place, perhaps with inverted colours.
    ///
    /// - Parameters:
    ///   - x: the left side of the mark, in pixels of the picture, which contains the whole mark.
    ///   - y: the upper side of the mark.
    ///   - picture: four bytes per pixel, in rows without padding.
    ///   - width: of the picture, in pixels.
    ///   - green: the position of green in the four bytes.
    static func isShown(x: Int, y: Int, in picture: UnsafeRawBufferPointer, width: Int, green: Int) -> Bool {
        var (darkestGrey, brightestGrey, darkestBlack, brightestBlack) = (255, 0, 255, 0)
        for row in 0..<side {
            for column in 0..<side {
                let value = unsafe Int(picture[((y + row) * width + x + column) * 4 + green])
                if isGrey[row * side + column] {
                    (darkestGrey, brightestGrey) = (min(darkestGrey, value), max(brightestGrey, value))
                } else {
                    (darkestBlack, brightestBlack) = (min(darkestBlack, value), max(brightestBlack, value))
                }
            }
        }
        return max(darkestGrey - brightestBlack, darkestBlack - brightestGrey) >= contrast
    }
}
