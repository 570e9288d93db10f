internal import MediaCore

/// A colour of the test pattern, as RGB in full range.
struct PatternColor: Equatable {
    let red: Double
    let green: Double
    let blue: Double

    init(_ red: Double, _ green: Double, _ blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

    static let white = PatternColor(240, 240, 240)
    static let black = PatternColor(16, 16, 16)
    static let gray = PatternColor(64, 64, 64)
    static let red = PatternColor(190, 40, 50)
    static let green = PatternColor(40, 150, 60)
    static let blue = PatternColor(40, 70, 200)
    static let yellow = PatternColor(210, 180, 40)

    /// One element of plane `index` in this colour, first byte lowest.
    func element(_ format: PixelFormat, plane index: Int, _ color: ColorDescription) -> UInt32 {
        if format.isRGB { return packedRGB(format, color.range) }
        let (y, cb, cr) = yCbCr(color)
        switch (format, index) {
        case (.nv12VideoRange, 1), (.nv12FullRange, 1): return cb | cr << 8
        // Ten bits at the upper end of 16: eight of them are the byte.
        case (.p010, 0): return y << 8
        case (.p010, _): return cb << 8 | cr << 24
        case (.yuy2, _): return y | cb << 8 | y << 16 | cr << 24
        case (.uyvy, _): return cb | y << 8 | cr << 16 | y << 24
        case (_, 0): return y
        case (_, 1): return cb
        default: return cr
        }
    }

    private func packedRGB(_ format: PixelFormat, _ range: ColorRange) -> UInt32 {
        func level(_ value: Double) -> UInt32 {
            UInt32((range == .full ? value : 16 + value * 219 / 255).rounded())
        }
        let (r, g, b) = (level(red), level(green), level(blue))
        return switch format {
        case .bgra: b | g << 8 | r << 16 | 0xff00_0000
        case .rgba: r | g << 8 | b << 16 | 0xff00_0000
        default: 0xff | r << 8 | g << 16 | b << 24
        }
    }

    /// ITU-R BT.601, 709 and 2020: the same equations with other weights.
    private func yCbCr(_ color: ColorDescription) -> (UInt32, UInt32, UInt32) {
        let (redWeight, blueWeight) =
            switch color.matrix {
            case .bt601: (0.299, 0.114)
            case .bt709: (0.2126, 0.0722)
            case .bt2020: (0.2627, 0.0593)
            }
        let y = redWeight * red + (1 - redWeight - blueWeight) * green + blueWeight * blue
        let cb = (blue - y) / (2 * (1 - blueWeight))
        let cr = (red - y) / (2 * (1 - redWeight))
        let (luma, chroma) = color.range == .full ? (1.0, 1.0) : (219.0 / 255, 224.0 / 255)
        let offset = color.range == .full ? 0.0 : 16.0
        func byte(_ value: Double) -> UInt32 { UInt32(min(255, max(0, value.rounded()))) }
        return (byte(offset + y * luma), byte(128 + cb * chroma), byte(128 + cr * chroma))
    }
}
