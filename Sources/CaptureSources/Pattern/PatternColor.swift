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

    /// One element of plane `index` in this colour, with its first byte in the low bits.
    func element(_ format: PixelFormat, plane index: Int, _ color: ColorDescription) -> UInt32 {
        let (y, cb, cr) = yCbCr(color)
        switch (format.layout, index) {
        case (.rgb(let red, let blue), _): return packedRGB(redAt: red, blueAt: blue, color.range)
        // P010 keeps ten bits in the upper end of 16. Eight of them fill the high byte.
        case (.tenBitPairs, 0): return y << 8
        case (.tenBitPairs, _): return cb << 8 | cr << 24
        case (.packed(lumaFirst: true), _): return y | cb << 8 | y << 16 | cr << 24
        case (.packed(lumaFirst: false), _): return cb | y << 8 | cr << 16 | y << 24
        case (_, 0): return y
        case (.pairs(_, let crFirst), _): return crFirst ? cr | cb << 8 : cb | cr << 8
        case (.planar(_, let crFirst), _): return (index == 1) == crFirst ? cr : cb
        case (.gray, _): return y
        }
    }

    private func packedRGB(redAt: Int, blueAt: Int, _ range: ColorRange) -> UInt32 {
        func level(_ value: Double) -> UInt32 {
            UInt32((range == .full ? value : 16 + value * 219 / 255).rounded())
        }
        let greenAt = (redAt + blueAt) / 2
        let alphaAt = 6 - redAt - greenAt - blueAt
        return level(red) << (8 * redAt) | level(green) << (8 * greenAt) | level(blue) << (8 * blueAt)
            | 0xff << (8 * alphaAt)
    }

    /// ITU-R BT.601, 709 and 2020 differ only in their weights.
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
