internal import CLibAV
internal import MediaCore

/// A canvas's colour description in libavcodec's terms, for the VUI (ISO/IEC 14496-10, E.2.1; H.273).
struct VideoColor {
    let space: AVColorSpace
    let primaries: AVColorPrimaries
    let transfer: AVColorTransferCharacteristic
    let range: AVColorRange
    /// Luma of black.
    let black: UInt8

    init(_ color: ColorDescription) {
        switch color.matrix {
        case .bt709: (space, primaries, transfer) = (AVCOL_SPC_BT709, AVCOL_PRI_BT709, AVCOL_TRC_BT709)
        case .bt601: (space, primaries, transfer) = (AVCOL_SPC_SMPTE170M, AVCOL_PRI_SMPTE170M, AVCOL_TRC_SMPTE170M)
        case .bt2020: (space, primaries, transfer) = (AVCOL_SPC_BT2020_NCL, AVCOL_PRI_BT2020, AVCOL_TRC_BT2020_10)
        }
        switch color.range {
        case .video: (range, black) = (AVCOL_RANGE_MPEG, 16)
        case .full: (range, black) = (AVCOL_RANGE_JPEG, 0)
        }
    }
}
