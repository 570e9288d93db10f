package import MediaCore

/// The conversion from a source's Y'CbCr to the canvas's, in integers: matrix and range in one step.
///
/// Transfer functions and primaries stay as they are. BT.601, BT.709 and BT.2020 SDR pictures differ visibly in their
/// matrix, but hardly in their transfer. Grey stays grey in every such conversion, so chroma does not depend on luma:
///
///     Y'  = (1 + luma)     * (Y - 128)  + lumaFromCb * (Cb - 128) + lumaFromCr * (Cr - 128) + lumaOfMiddle
///     Cb' = (1 + cbFromCb) * (Cb - 128) + cbFromCr   * (Cr - 128) + 128
///     Cr' = (1 + crFromCr) * (Cr - 128) + crFromCb   * (Cb - 128) + 128
///
/// All factors are below 1/4, so in Q10 their products with a sample fit 16 bits. A vector holds twice as many 16-bit
/// as 32-bit products, and x86-64 without extensions multiplies only 16-bit numbers.
package struct ColorConversion: Equatable, Sendable {
    /// Q10, as are the six factors below.
    let luma: Int16
    let lumaFromCb: Int16
    let lumaFromCr: Int16
    let cbFromCb: Int16
    let cbFromCr: Int16
    let crFromCb: Int16
    let crFromCr: Int16
    /// The luma that 128 becomes, in 1/64 steps.
    let lumaOfMiddle: Int16

    /// The conversion from one canvas's colour to another's; nil if they are equal.
    package init?(from source: ColorDescription, to target: ColorDescription) {
        self.init(source: IntakeColor(source), canvas: target)
    }

    /// Nil if a picture of `source` needs no conversion for a canvas with the colour `canvas`.
    init?(source: IntakeColor, canvas: ColorDescription) {
        let target = IntakeColor(canvas)
        guard source != target, !(source.isGray && source.lumaScale == target.lumaScale) else { return nil }

        let from = LumaWeights(source.matrix)
        let to = LumaWeights(target.matrix)
        // R, G and B minus luma, for one unit of Cb and of Cr.
        let redOfCr = 2 * (1 - from.red)
        let blueOfCb = 2 * (1 - from.blue)
        let greenOfCb = -from.blue * blueOfCb / from.green
        let greenOfCr = -from.red * redOfCr / from.green
        let lumaOfCb = to.green * greenOfCb + to.blue * blueOfCb
        let lumaOfCr = to.green * greenOfCr + to.red * redOfCr

        let lumaGain = target.lumaScale / source.lumaScale
        let lumaGainOfChroma = target.lumaScale / source.chromaScale
        let chromaGain = target.chromaScale / source.chromaScale
        let cbGain = chromaGain / (2 * (1 - to.blue))
        let crGain = chromaGain / (2 * (1 - to.red))

        luma = Self.q10(lumaGain - 1)
        lumaFromCb = Self.q10(lumaOfCb * lumaGainOfChroma)
        lumaFromCr = Self.q10(lumaOfCr * lumaGainOfChroma)
        cbFromCb = Self.q10((blueOfCb - lumaOfCb) * cbGain - 1)
        cbFromCr = Self.q10(-lumaOfCr * cbGain)
        crFromCb = Self.q10(-lumaOfCb * crGain)
        crFromCr = Self.q10((redOfCr - lumaOfCr) * crGain - 1)
        lumaOfMiddle = Int16(((target.lumaZero + (128 - source.lumaZero) * lumaGain) * 64).rounded())
    }

    private static func q10(_ value: Double) -> Int16 { Int16((value * 1024).rounded()) }
}

/// The meaning of an intake picture's sample values, before any conversion.
struct IntakeColor: Equatable {
    let matrix: ColorMatrix
    /// The number of steps from black to white.
    let lumaScale: Double
    /// The luma of black.
    let lumaZero: Double
    /// The number of steps from the least to the greatest chroma of full-range RGB.
    private(set) var chromaScale: Double
    let isGray: Bool

    init(_ color: ColorDescription, isGray: Bool = false) {
        matrix = color.matrix
        lumaScale = color.range == .video ? 219 : 255
        lumaZero = color.range == .video ? 16 : 0
        chromaScale = color.range == .video ? 224 : 255
        self.isGray = isGray
    }

    /// The colour of `source` after unpacking.
    ///
    /// Unpacking converts RGB to BT.601 in full range. Video-range RGB (16...235) gets video-range luma, but its chroma
    /// then spans 219 steps, not 224.
    init(unpacked source: VideoSampleFormat) {
        let range = source.pixelFormat.rangeOfName ?? source.color.range
        switch source.pixelFormat.layout {
        case .rgb:
            self.init(ColorDescription(matrix: .bt601, range: range))
            chromaScale = lumaScale
        case let layout:
            self.init(ColorDescription(matrix: source.color.matrix, range: range), isGray: layout == .gray)
        }
    }
}

/// The weights of R, G and B in luma (H.273, table 4).
private struct LumaWeights {
    let red: Double
    let blue: Double
    var green: Double { 1 - red - blue }

    init(_ matrix: ColorMatrix) {
        switch matrix {
        case .bt601: (red, blue) = (0.299, 0.114)
        case .bt709: (red, blue) = (0.2126, 0.0722)
        case .bt2020: (red, blue) = (0.2627, 0.0593)
        }
    }
}
