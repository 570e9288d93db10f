package import MediaCore

extension CanvasColor {
    /// The canvas's Y'CbCr for a full-range RGB colour (H.273, equations of the matrix's Kr and Kb).
    package init(red: UInt8, green: UInt8, blue: UInt8, color: ColorDescription) {
        let (kr, kb): (Double, Double) =
            switch color.matrix {
            case .bt601: (0.299, 0.114)
            case .bt709: (0.2126, 0.0722)
            case .bt2020: (0.2627, 0.0593)
            }
        let (r, g, b) = (Double(red) / 255, Double(green) / 255, Double(blue) / 255)
        let luma = kr * r + (1 - kr - kb) * g + kb * b
        let (cb, cr) = ((b - luma) / (2 * (1 - kb)), (r - luma) / (2 * (1 - kr)))
        func clamped(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
        switch color.range {
        case .video: self.init(y: clamped(16 + 219 * luma), u: clamped(128 + 224 * cb), v: clamped(128 + 224 * cr))
        case .full: self.init(y: clamped(255 * luma), u: clamped(128 + 255 * cb), v: clamped(128 + 255 * cr))
        }
    }
}
