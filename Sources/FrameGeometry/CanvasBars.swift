package import MediaCore

/// What surrounds a frame on its canvas.
///
/// One thread at a time. Remembers which pictures have which bars, and draws them again only where a frame's place has
/// changed.
package struct CanvasBars {
    private let format: CanvasFormat
    private let background: CanvasColor
    /// The pictures that come again and again, and what the bars on each surround.
    private var drawn: [(picture: UInt64, inside: PixelRect)] = []
    private static let pictureCount = 4

    /// Bars have the colour `background`: black in the canvas's range where none is given.
    package init(canvas: CanvasFormat, background: CanvasColor? = nil) {
        format = canvas
        self.background = background ?? .black(canvas.color.range)
        drawn.reserveCapacity(Self.pictureCount)
    }

    /// Draws the bars around `rect`, where they are not there already.
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

    /// Paints everything in the background colour: what is shown before the first frame.
    package mutating func fill(_ picture: Picture) {
        let planes = picture.planes
        drawn.removeAll { $0.picture == picture.serial }
        fill(PixelRect(x: 0, y: 0, width: planes.width, height: planes.height), on: planes)
        withExtendedLifetime(picture) {}
    }

    /// Paints a rectangle of even numbers.
    private func fill(_ rect: PixelRect, on picture: PicturePlanes) {
        guard rect.width > 0, rect.height > 0 else { return }
        picture.part(rect).fill(background)
    }
}
