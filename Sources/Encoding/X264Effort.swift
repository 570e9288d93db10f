internal import MediaCore

/// What `VideoEffort` means for libx264: its preset, and what is changed of it.
///
/// All points have the same parameter sets (`8x8dct`, CABAC, weighted prediction and references are the preset's), so
/// that one can take another's place in the middle of a stream.
enum X264Effort {
    /// The preset that every point is a change of.
    static let preset = X264Preset.veryfast

    /// For every point. Beside the preset: the smallest search for motion, by one round of halves and quarters of a
    /// sample; half as much adaptive quantization; small residues of inter blocks are kept; bits follow the pictures
    /// more closely, and keyframes are only a fifth better than what follows them. That is fewer bits for the same PSNR
    /// and SSIM, for less time. Weighted prediction stays on: without it a fade takes twice the bits.
    ///
    /// One thread estimates what a frame will cost: two take 5 % more processor time for the whole line.
    private static let common =
        "subme=1:me=dia:aq-strength=0.5:deadzone-inter=14:qcomp=0.8:ipratio=1.2:lookahead-threads=1"

    /// As `x264-params` says it.
    static func parameters(_ effort: VideoEffort) -> String {
        switch effort {
        case .low: common + ":partitions=none"
        case .normal: common + ":partitions=p8x8"
        case .high: common + ":partitions=i4x4,p8x8"
        }
    }

    /// Without subpixel motion, for which x264 keeps three more luma planes of each frame; after `parameters`.
    static let withoutSubpixelMotion = "subme=0"
}
