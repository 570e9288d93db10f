/// Luma and chroma coefficients of a Y'CbCr picture; raw values are H.264/H.273 `matrix_coefficients`.
package enum ColorMatrix: UInt8, CaseIterable, Sendable {
    case bt709 = 1
    /// SMPTE 170M, the same coefficients as BT.601.
    case bt601 = 6
    /// BT.2020 non-constant luminance.
    case bt2020 = 9
}

/// Whether 8-bit luma spans 16...235 (video) or 0...255 (full).
package enum ColorRange: UInt8, CaseIterable, Sendable {
    case video = 0
    case full = 1
}

/// The meaning of a Y'CbCr picture's sample values.
package struct ColorDescription: Equatable, Sendable {
    package var matrix: ColorMatrix
    package var range: ColorRange

    package init(matrix: ColorMatrix, range: ColorRange) {
        self.matrix = matrix
        self.range = range
    }

    /// BT.709 in video range: the expectation of HD players, and the canvas's default.
    package static let hd = ColorDescription(matrix: .bt709, range: .video)
}
