package import Grabbing
internal import MediaCore
package import UpcastClient

/// The position and shape of the pointer over a shared screen, as reported by the stream. Pure.
package struct PointerState: Equatable, Sendable {
    private var image = PointerImage.none
    private var place: (x: Int, y: Int)?

    package init() {}

    package static func == (a: Self, b: Self) -> Bool {
        a.image == b.image && a.place?.x == b.place?.x && a.place?.y == b.place?.y
    }

    /// - Parameter place: where the pointer points, in pixels of the sender's picture; nil while it is hidden.
    /// - Returns: whether the position has changed.
    package mutating func move(to place: (x: Int, y: Int)?) -> Bool {
        defer { self.place = place }
        return place?.x != self.place?.x || place?.y != self.place?.y
    }

    /// - Returns: whether the shape has changed.
    package mutating func take(_ shape: PointerImage) -> Bool {
        defer { image = shape }
        return shape != image
    }

    /// The part of a picture that the pointer covers; nil for none.
    package func area(in picture: StreamPicture) -> CaptureRectangle? {
        guard let place, image.width > 0 else { return nil }
        return image.area(x: place.x - picture.origin.x, y: place.y - picture.origin.y).intersection(
            CaptureRectangle(x: 0, y: 0, width: picture.width, height: picture.height))
    }

    /// Draws the pointer over a frame with a picture.
    package func draw(into frame: UnsafeMutableRawBufferPointer, _ picture: StreamPicture) {
        guard let place, case .rgb(let red, let blue) = picture.pixelFormat.layout else { return }
        unsafe image.draw(
            into: frame, width: picture.width, height: picture.height, red: red, blue: blue,
            x: place.x - picture.origin.x, y: place.y - picture.origin.y)
    }
}

extension PointerImage {
    /// Reads a shape as a stream stores it: premultiplied, in rows of `stride` bytes.
    ///
    /// - Parameter positions: the positions of red, green, blue and opacity in the four bytes of a pixel.
    package init(
        bytes: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int, hotX: Int, hotY: Int,
        positions: (red: Int, green: Int, blue: Int, opacity: Int)
    ) {
        var pixels: [UInt32] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width {
                let at = row * stride + column * 4
                func byte(_ position: Int) -> UInt32 { unsafe UInt32(bytes[at + position]) }
                pixels.append(
                    byte(positions.opacity) << 24 | byte(positions.red) << 16 | byte(positions.green) << 8
                        | byte(positions.blue))
            }
        }
        self.init(pixels: pixels, width: width, height: height, hotX: hotX, hotY: hotY)
    }
}
