package import MediaCore

/// The bars around a frame on its canvas.
///
/// Used by one thread at a time. Remembers which pictures have which bars, and draws them again only if a frame's place
/// has changed.
package struct CanvasBars {
    private let format: CanvasFormat
    private let background: CanvasColor
    /// The pictures in use, and the rectangle that the bars on each one surround.
    private var drawn: [(picture: UInt64, inside: PixelRect)] = []
    private static let pictureCount = 4

    /// - Parameter background: the bars' colour; nil for black in the canvas's range.
    package init(canvas: CanvasFormat, background: CanvasColor? = nil) {
        format = canvas
        self.background = background ?? .black(canvas.color.range)
        drawn.reserveCapacity(Self.pictureCount)
    }

    /// Draws the bars around `rect` if the picture does not have them yet.
    mutating func surround(_ rect: PixelRect, on picture: Picture) {
        if let index = drawn.firstIndex(where: { $0.picture == picture.serial }) {
            guard drawn[index].inside != rect else { return }
            drawn[index].inside = rect
        } else {
            if drawn.count == Self.pictureCount { drawn.removeFirst() }
            drawn.append((picture.serial, rect))
        }
        let picture = picture.planes
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height)
        fill(PixelRect(x: 0, y: 0, width: picture.width, height: rect.y), on: picture)
        fill(PixelRect(x: 0, y: bottom, width: picture.width, height: picture.height - bottom), on: picture)
        fill(PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height), on: picture)
        fill(PixelRect(x: right, y: rect.y, width: picture.width - right, height: rect.height), on: picture)
    }

    /// Fills the picture with the background colour, for the time before the first frame.
    package mutating func fill(_ picture: Picture) {
        let planes = picture.planes
        drawn.removeAll { $0.picture == picture.serial }
        fill(PixelRect(x: 0, y: 0, width: planes.width, height: planes.height), on: planes)
        withExtendedLifetime(picture) {}
    }

    /// Fills a rectangle whose coordinates are even.
    private func fill(_ rect: PixelRect, on picture: PicturePlanes) {
        guard rect.width > 0, rect.height > 0 else { return }
        picture.part(rect).fill(background)
    }
}
