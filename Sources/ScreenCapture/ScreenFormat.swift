package import Grabbing
package import MediaCore

/// How the X server stores the pixels of its root window, and the format in which they are sent. Pure.
package struct ScreenFormat: Equatable, Sendable {
    /// The colour masks of a visual.
    package struct Masks: Equatable, Sendable {
        package var red, green, blue: UInt32

        package init(red: UInt32, green: UInt32, blue: UInt32) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }
    }

    /// The format of the frames that are sent.
    package let pixelFormat: PixelFormat
    /// Bytes of a pixel in the X server.
    package let bytesPerPixel: Int
    /// Nil if the server's pixels are sent as they are.
    let conversion: PixelConversion?

    /// - Throws: for palettes, and pixels of neither 16 nor 32 bits, which have been out of use for decades.
    package init(bitsPerPixel: Int, masks: Masks, isTrueColor: Bool, isLittleEndian: Bool) throws(ScreenError) {
        guard isTrueColor, bitsPerPixel == 32 || bitsPerPixel == 16 else {
            throw ScreenError(
                "the display has \(bitsPerPixel) bits per pixel\(isTrueColor ? "" : " with a palette"), which cannot "
                    + "be captured; start the X server with 24-bit colours")
        }
        bytesPerPixel = bitsPerPixel / 8
        let direct: PixelFormat? =
            switch (masks.red, masks.green, masks.blue) {
            case (0xff0000, 0xff00, 0xff): isLittleEndian ? .bgra : .argb
            case (0xff, 0xff00, 0xff0000): isLittleEndian ? .rgba : .abgr
            default: nil
            }
        if let direct, bitsPerPixel == 32 {
            (pixelFormat, conversion) = (direct, nil)
        } else {
            pixelFormat = .bgra
            conversion = PixelConversion(masks, bytesPerPixel: bytesPerPixel, isLittleEndian: isLittleEndian)
        }
    }
}

/// Converts pixels with other masks into BGRA, such as those of 30-bit and 16-bit displays. Pure.
struct PixelConversion: Equatable, Sendable {
    private struct Component: Equatable, Sendable {
        let shift: UInt32
        let largest: UInt32

        init(_ mask: UInt32) {
            shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount)
            largest = mask >> shift
        }

        /// In 0 to 255, rounded to nearest.
        func byte(of pixel: UInt32) -> UInt8 {
            largest == 0 ? 0 : UInt8(((pixel >> shift & largest) * 255 + largest / 2) / largest)
        }
    }

    private let red, green, blue: Component
    private let bytesPerPixel: Int
    private let isLittleEndian: Bool

    init(_ masks: ScreenFormat.Masks, bytesPerPixel: Int, isLittleEndian: Bool) {
        (red, green, blue) = (Component(masks.red), Component(masks.green), Component(masks.blue))
        (self.bytesPerPixel, self.isLittleEndian) = (bytesPerPixel, isLittleEndian)
    }

    /// - Parameters:
    ///   - pixels: the server's, in rows of `stride` bytes.
    ///   - target: `width * height * 4` bytes.
    func convert(
        _ pixels: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int,
        to target: UnsafeMutableRawBufferPointer
    ) {
        for row in 0..<height {
            for column in 0..<width {
                let pixel = unsafe self.pixel(pixels, at: row * stride + column * bytesPerPixel)
                let at = (row * width + column) * 4
                unsafe target[at] = blue.byte(of: pixel)
                unsafe target[at + 1] = green.byte(of: pixel)
                unsafe target[at + 2] = red.byte(of: pixel)
                unsafe target[at + 3] = 255
            }
        }
    }

    private func pixel(_ pixels: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        if bytesPerPixel == 2 {
            let value = unsafe pixels.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            return UInt32(isLittleEndian ? UInt16(littleEndian: value) : UInt16(bigEndian: value))
        }
        let value = unsafe pixels.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return isLittleEndian ? UInt32(littleEndian: value) : UInt32(bigEndian: value)
    }
}
