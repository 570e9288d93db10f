package import UpcastClient

/// The shape of the pointer, which X servers do not draw into the pictures that they give.
package struct PointerImage: Equatable, Sendable {
    /// Premultiplied ARGB, as native words.
    package var pixels: [UInt32]
    package var width: Int
    package var height: Int
    /// The pixel that points, from the top left corner.
    package var hotX: Int
    package var hotY: Int

    package static let none = PointerImage(pixels: [], width: 0, height: 0, hotX: 0, hotY: 0)

    package init(pixels: [UInt32], width: Int, height: Int, hotX: Int, hotY: Int) {
        (self.pixels, self.width, self.height) = (pixels, width, height)
        (self.hotX, self.hotY) = (hotX, hotY)
    }

    /// Whether anything of it is seen: programs that hide the pointer give it a shape without a pixel.
    package var isVisible: Bool { pixels.contains { $0 >> 24 > 0 } }

    /// What it covers when it points at a place.
    package func area(x: Int, y: Int) -> CaptureRectangle {
        CaptureRectangle(x: x - hotX, y: y - hotY, width: width, height: height)
    }

    /// Draws the pointer over a picture of four bytes per pixel, in rows without padding.
    ///
    /// - Parameters:
    ///   - red: the position of red in the four bytes.
    ///   - blue: the position of blue; green is between them.
    ///   - x: where it points, in pixels of the picture.
    ///   - y: where it points, in pixels of the picture.
    package func draw(
        into picture: UnsafeMutableRawBufferPointer, width pictureWidth: Int, height pictureHeight: Int, red: Int,
        blue: Int, x: Int, y: Int
    ) {
        let own = area(x: x, y: y)
        let whole = CaptureRectangle(x: 0, y: 0, width: pictureWidth, height: pictureHeight)
        guard let seen = own.intersection(whole) else { return }
        let green = (red + blue) / 2
        for row in seen.y..<seen.y + seen.height {
            for column in seen.x..<seen.x + seen.width {
                let pixel = pixels[(row - own.y) * width + column - own.x]
                let opacity = pixel >> 24
                guard opacity > 0 else { continue }
                let at = (row * pictureWidth + column) * 4
                func blend(_ position: Int, _ component: UInt32) {
                    let below = unsafe UInt32(picture[at + position]) * (255 - opacity)
                    unsafe picture[at + position] = UInt8(min((component & 0xff) + (below + 127) / 255, 255))
                }
                blend(red, pixel >> 16)
                blend(green, pixel >> 8)
                blend(blue, pixel)
            }
        }
    }
}
