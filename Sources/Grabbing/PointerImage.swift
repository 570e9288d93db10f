package import UpcastClient

/// The shape of the pointer, which X servers leave out of their pictures.
package struct PointerImage: Equatable, Sendable {
    /// Premultiplied ARGB, as native words.
    package var pixels: [UInt32]
    package var width: Int
    package var height: Int
    /// The hot spot, from the top left corner.
    package var hotX: Int
    package var hotY: Int

    package static let none = PointerImage(pixels: [], width: 0, height: 0, hotX: 0, hotY: 0)

    package init(pixels: [UInt32], width: Int, height: Int, hotX: Int, hotY: Int) {
        (self.pixels, self.width, self.height) = (pixels, width, height)
        (self.hotX, self.hotY) = (hotX, hotY)
    }

    /// Whether any pixel is visible: programs hide the pointer by a shape without visible pixels.
    package var isVisible: Bool { pixels.contains { $0 >> 24 > 0 } }

    /// The area that the image covers when its hot spot is at a place.
    package func area(x: Int, y: Int) -> CaptureRectangle {
        CaptureRectangle(x: x - hotX, y: y - hotY, width: width, height: height)
    }

    /// Draws the pointer over a picture of four bytes per pixel, in rows without padding.
    ///
    /// - Parameters:
    ///   - red: the position of red in the four bytes.
    ///   - blue: the position of blue; green is between them.
    ///   - x: the place of the hot spot, in pixels of the picture.
    ///   - y: the place of the hot spot, in pixels of the picture.
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
