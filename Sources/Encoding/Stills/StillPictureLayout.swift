internal import CLibAV

/// Converts a row of a decoded still picture to BGRA, for the pixel formats of libavcodec's PNG and JPEG decoders.
@safe struct StillPictureLayout {
    private enum Kind {
        /// One bit for each pixel, from the left; 1 is white.
        case bits
        case palette
        /// Channels of `bytes` bytes each, big-endian. Only the most significant byte is used.
        case gray(bytes: Int, hasAlpha: Bool)
        case rgb(bytes: Int, hasAlpha: Bool)
        /// Planes G, B, R.
        case planarRGB
        /// Y'CbCr, BT.601; the chroma subsampling as shifts.
        case yuv(horizontal: Int, vertical: Int, isFullRange: Bool)
    }

    private let kind: Kind

    /// Nil for a format that these decoders do not output.
    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_MONOBLACK: kind = .bits
        case AV_PIX_FMT_PAL8: kind = .palette
        case AV_PIX_FMT_GRAY8: kind = .gray(bytes: 1, hasAlpha: false)
        case AV_PIX_FMT_GRAY16BE: kind = .gray(bytes: 2, hasAlpha: false)
        case AV_PIX_FMT_YA8: kind = .gray(bytes: 1, hasAlpha: true)
        case AV_PIX_FMT_YA16BE: kind = .gray(bytes: 2, hasAlpha: true)
        case AV_PIX_FMT_RGB24: kind = .rgb(bytes: 1, hasAlpha: false)
        case AV_PIX_FMT_RGB48BE: kind = .rgb(bytes: 2, hasAlpha: false)
        case AV_PIX_FMT_RGBA: kind = .rgb(bytes: 1, hasAlpha: true)
        case AV_PIX_FMT_RGBA64BE: kind = .rgb(bytes: 2, hasAlpha: true)
        case AV_PIX_FMT_GBRP: kind = .planarRGB
        case AV_PIX_FMT_YUVJ420P: kind = .yuv(horizontal: 1, vertical: 1, isFullRange: true)
        case AV_PIX_FMT_YUVJ422P: kind = .yuv(horizontal: 1, vertical: 0, isFullRange: true)
        case AV_PIX_FMT_YUVJ440P: kind = .yuv(horizontal: 0, vertical: 1, isFullRange: true)
        case AV_PIX_FMT_YUVJ444P: kind = .yuv(horizontal: 0, vertical: 0, isFullRange: true)
        case AV_PIX_FMT_YUVJ411P: kind = .yuv(horizontal: 2, vertical: 0, isFullRange: true)
        case AV_PIX_FMT_YUV420P: kind = .yuv(horizontal: 1, vertical: 1, isFullRange: false)
        case AV_PIX_FMT_YUV422P: kind = .yuv(horizontal: 1, vertical: 0, isFullRange: false)
        case AV_PIX_FMT_YUV444P: kind = .yuv(horizontal: 0, vertical: 0, isFullRange: false)
        default: return nil
        }
    }

    private typealias Pixel = (red: Int, green: Int, blue: Int, alpha: Int)

    func readRow(
        _ row: Int, of frame: UnsafePointer<AVFrame>, width: Int, over color: (red: UInt8, green: UInt8, blue: UInt8),
        into bgra: UnsafeMutablePointer<UInt8>
    ) {
        for column in 0..<width {
            let pixel = unsafe pixel(column, row, of: frame)
            func mixed(_ value: Int, _ below: UInt8) -> UInt8 {
                UInt8((value * pixel.alpha + Int(below) * (255 - pixel.alpha) + 127) / 255)
            }
            unsafe bgra[4 * column] = mixed(pixel.blue, color.blue)
            unsafe bgra[4 * column + 1] = mixed(pixel.green, color.green)
            unsafe bgra[4 * column + 2] = mixed(pixel.red, color.red)
            unsafe bgra[4 * column + 3] = 255
        }
    }

    private func pixel(_ column: Int, _ row: Int, of frame: UnsafePointer<AVFrame>) -> Pixel {
        switch kind {
        case .bits:
            let value = unsafe Self.samples(0, row, of: frame)[column / 8] >> (7 - column % 8) & 1 == 1 ? 255 : 0
            return (value, value, value, 255)
        case .palette:
            // 256 words of ARGB.
            let index = unsafe Int(Self.samples(0, row, of: frame)[column])
            let word = unsafe Self.samples(1, 0, of: frame).withMemoryRebound(to: UInt32.self, capacity: 256) {
                unsafe Int($0[index])
            }
            return (word >> 16 & 255, word >> 8 & 255, word & 255, word >> 24 & 255)
        case .gray(let bytes, let hasAlpha):
            let at = unsafe Self.samples(0, row, of: frame) + column * bytes * (hasAlpha ? 2 : 1)
            let value = unsafe Int(at[0])
            return (value, value, value, hasAlpha ? unsafe Int(at[bytes]) : 255)
        case .rgb(let bytes, let hasAlpha):
            let at = unsafe Self.samples(0, row, of: frame) + column * bytes * (hasAlpha ? 4 : 3)
            return unsafe (Int(at[0]), Int(at[bytes]), Int(at[2 * bytes]), hasAlpha ? Int(at[3 * bytes]) : 255)
        case .planarRGB:
            return unsafe (
                Int(Self.samples(2, row, of: frame)[column]), Int(Self.samples(0, row, of: frame)[column]),
                Int(Self.samples(1, row, of: frame)[column]), 255
            )
        case .yuv(let horizontal, let vertical, let isFullRange):
            let luma = unsafe Int(Self.samples(0, row, of: frame)[column])
            let cb = unsafe Int(Self.samples(1, row >> vertical, of: frame)[column >> horizontal]) - 128
            let cr = unsafe Int(Self.samples(2, row >> vertical, of: frame)[column >> horizontal]) - 128
            return Self.rgb(luma, cb, cr, isFullRange: isFullRange)
        }
    }

    private static func samples(_ plane: Int, _ row: Int, of frame: UnsafePointer<AVFrame>) -> UnsafePointer<UInt8> {
        let (data, stride) =
            switch plane {
            case 0: unsafe (frame.pointee.data.0, frame.pointee.linesize.0)
            case 1: unsafe (frame.pointee.data.1, frame.pointee.linesize.1)
            default: unsafe (frame.pointee.data.2, frame.pointee.linesize.2)
            }
        guard let data = unsafe data else { preconditionFailure("a plane that the format has is missing") }
        return unsafe UnsafePointer(data + row * Int(stride))
    }

    /// JFIF's equations, scaled by 65536.
    private static func rgb(_ luma: Int, _ cb: Int, _ cr: Int, isFullRange: Bool) -> Pixel {
        let y = isFullRange ? luma << 16 : (luma - 16) * 76_309
        let scale = isFullRange ? (91_881, 22_554, 46_802, 116_130) : (104_597, 25_675, 53_279, 132_201)
        func clamped(_ value: Int) -> Int { max(0, min(255, (value + 32_768) >> 16)) }
        return (
            clamped(y + scale.0 * cr), clamped(y - scale.1 * cb - scale.2 * cr), clamped(y + scale.3 * cb), 255
        )
    }
}
