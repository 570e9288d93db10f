/// A picture in floating-point R'G'B' (gamma as displayed), 0 to 1, interleaved. References are computed in this form.
package struct RGBImage: Sendable {
    package let width: Int
    package let height: Int
    package var pixels: [Float]

    package init(width: Int, height: Int, filling color: RGB = RGB(0, 0, 0)) {
        self.width = width
        self.height = height
        pixels = []
        pixels.reserveCapacity(width * height * 3)
        for _ in 0..<width * height {
            pixels.append(color.red)
            pixels.append(color.green)
            pixels.append(color.blue)
        }
    }

    package subscript(x: Int, y: Int) -> RGB {
        get {
            let at = (y * width + x) * 3
            return RGB(pixels[at], pixels[at + 1], pixels[at + 2])
        }
        set {
            let at = (y * width + x) * 3
            pixels[at] = newValue.red
            pixels[at + 1] = newValue.green
            pixels[at + 2] = newValue.blue
        }
    }
}

/// A colour, each component 0 to 1.
package struct RGB: Equatable, Sendable {
    package var red: Float
    package var green: Float
    package var blue: Float
    package init(_ red: Float, _ green: Float, _ blue: Float) {
        self.red = red
        self.green = green
        self.blue = blue
    }
}
