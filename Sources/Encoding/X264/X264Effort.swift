internal import MediaCore

/// Maps a `VideoEffort` to libx264: its preset, and changes of the preset.
///
/// All efforts have the same parameter sets (`8x8dct`, CABAC, weighted prediction and references come from the preset),
/// so that one can replace another within a stream.
enum X264Effort {
    static let preset = X264Preset.veryfast

    /// The changes of all efforts. The smallest motion search, with one round of half and quarter samples. No blocks
    /// smaller than a macroblock except in intra prediction. Slightly less adaptive quantization. More of the small
    /// residues of inter blocks. Bits that follow the pictures more closely, and keyframes only a fifth better than the
    /// frames after them. This takes fewer bits for the same PSNR and SSIM, in less time. Weighted prediction stays on:
    /// without it a fade takes two to three times the bits.
    private static let common =
        "subme=1:me=dia:partitions=i4x4:aq-strength=0.9:deadzone-inter=17:qcomp=0.8:ipratio=1.2"

    /// In the syntax of `x264-params`.
    static func parameters(_ effort: VideoEffort) -> String {
        switch effort {
        case .low: common + ":no-deblock=1"
        case .normal: common
        case .high: common + ":subme=2"
        }
    }

    /// Appended to `parameters` to disable subpixel motion. Effort `high` gains quality from the luma planes that are
    /// then missing, so it uses smaller blocks instead.
    static func withoutSubpixelMotion(_ effort: VideoEffort?) -> String {
        effort == .high ? "subme=0:partitions=i4x4,p8x8" : "subme=0"
    }
}
