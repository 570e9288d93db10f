import MediaCore

/// A colour with components from 0 to 1.
struct RGB {
    var red: Double
    var green: Double
    var blue: Double
}

/// Y'CbCr numbers before rounding.
struct YCbCr {
    var y: Double
    var cb: Double
    var cr: Double

    /// From the definitions of H.273: weights, then range.
    init(_ color: RGB, as description: ColorDescription) {
        let (weightOfRed, weightOfBlue) = Self.weights(description.matrix)
        let luma =
            weightOfRed * color.red + (1 - weightOfRed - weightOfBlue) * color.green + weightOfBlue * color.blue
        let video = description.range == .video
        y = video ? 16 + 219 * luma : 255 * luma
        cb = 128 + (video ? 224 : 255) * (color.blue - luma) / (2 - 2 * weightOfBlue)
        cr = 128 + (video ? 224 : 255) * (color.red - luma) / (2 - 2 * weightOfRed)
    }

    private static func weights(_ matrix: ColorMatrix) -> (red: Double, blue: Double) {
        switch matrix {
        case .bt601: (0.299, 0.114)
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        }
    }
}

/// Rounded to 8 bits.
func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
