internal import CPipeWire
package import Grabbing
package import MediaCore
package import UpcastClient

/// The position of a picture in the memory of a buffer, and its layout. Pure.
package struct StreamPicture: Equatable, Sendable {
    package let pixelFormat: PixelFormat
    /// The offset of the first pixel, in bytes.
    package let offset: Int
    /// The bytes from one row to the next.
    package let stride: Int
    package let width: Int
    package let height: Int
    /// The position of this picture in the sender's picture.
    package let origin: (x: Int, y: Int)

    /// The sender's description of a buffer, which is not checked.
    package struct Claim: Equatable, Sendable {
        package var pixelFormat: PixelFormat?
        package var width = 0
        package var height = 0
        package var stride = 0
        package var offset = 0
        /// The size of the buffer's memory.
        package var byteCount = 0
        /// The part that is to be shown; nil for the whole picture.
        package var crop: CaptureRectangle?

        package init() {}
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.pixelFormat == b.pixelFormat && a.offset == b.offset && a.stride == b.stride && a.width == b.width
            && a.height == b.height && a.origin == b.origin
    }

    /// - Throws: if the picture does not lie within its buffer, or the daemon does not accept it.
    package init(_ claim: Claim) throws(ScreenError) {
        guard let pixelFormat = claim.pixelFormat else {
            throw ScreenError("PipeWire gives pictures in a format that was not asked for")
        }
        let whole = CaptureRectangle(x: 0, y: 0, width: claim.width, height: claim.height)
        guard let part = (claim.crop ?? whole).intersection(whole) else {
            throw ScreenError("the desktop shows nothing of what is shared", isTemporary: true)
        }
        // Sides have at most 16 bits, and the other numbers at most 32, so that nothing overflows.
        let isSane = claim.width <= Int(UInt16.max) && claim.height <= Int(UInt16.max)
        let stride = claim.stride == 0 ? claim.width * 4 : claim.stride
        let end = isSane ? claim.offset + (claim.height - 1) * stride + claim.width * 4 : Int.max
        guard isSane, stride >= claim.width * 4, claim.offset >= 0, claim.height > 0, end <= claim.byteCount else {
            throw ScreenError(
                "PipeWire gives a picture of \(claim.width)x\(claim.height) pixels with \(claim.stride) bytes a row in "
                    + "\(claim.byteCount) bytes, where it does not fit")
        }
        guard ScreenArea.canBeSent(width: part.width, height: part.height) else {
            throw ScreenError(
                "what is shared has \(part.width)x\(part.height) pixels, which cannot be sent: \(ScreenArea.limits)",
                isTemporary: true)
        }
        self.pixelFormat = pixelFormat
        self.stride = stride
        offset = claim.offset + part.y * stride + part.x * 4
        (width, height, origin) = (part.width, part.height, (part.x, part.y))
    }

    /// Whether both show the same part of the sender's picture, in the same format.
    func looksLike(_ other: Self) -> Bool {
        pixelFormat == other.pixelFormat && width == other.width && height == other.height && origin == other.origin
    }

    /// The layout of frames with this picture.
    package var layout: VideoSampleFormat {
        VideoSampleFormat(
            packed: pixelFormat, width: width, height: height,
            color: ColorDescription(matrix: .bt709, range: .full))
    }

    /// Copies a part of the picture, or all of it.
    ///
    /// - Parameters:
    ///   - part: in pixels of the picture. Pixels outside of the picture are left out.
    ///   - memory: the memory of the buffer that the claim describes.
    ///   - target: the memory of a picture without padding.
    package func copy(
        _ part: CaptureRectangle?, from memory: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
    ) {
        let whole = CaptureRectangle(x: 0, y: 0, width: width, height: height)
        guard let part = (part ?? whole).intersection(whole) else { return }
        let rowBytes = part.width * 4
        func copy(_ byteCount: Int, row: Int) {
            let from = offset + row * stride + part.x * 4
            let to = (row * width + part.x) * 4
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[to..<to + byteCount]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: memory[from..<from + byteCount]))
        }
        if part.width == width, stride == rowBytes { return copy(rowBytes * part.height, row: part.y) }
        for row in part.y..<part.y + part.height { copy(rowBytes, row: row) }
    }
}

extension PixelFormat {
    /// Nil for a format that was not requested.
    init?(_ format: upcast_pipewire_format) {
        switch format {
        case UPCAST_PIPEWIRE_BGRX: self = .bgra
        case UPCAST_PIPEWIRE_RGBX: self = .rgba
        case UPCAST_PIPEWIRE_XRGB: self = .argb
        case UPCAST_PIPEWIRE_XBGR: self = .abgr
        default: return nil
        }
    }
}
