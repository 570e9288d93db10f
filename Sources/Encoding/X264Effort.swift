internal import MediaCore

/// What `VideoEffort` means for libx264: its preset, and what is changed of it.
///
/// All points have the same parameter sets (`8x8dct`, CABAC, weighted prediction and references are the preset's), so
/// that one can take another's place in the middle of a stream.
enum X264Effort {
    /// The preset that every point is a change of.
    static let preset = X264Preset.veryfast

    /// For every point. Beside the preset: the smallest search for motion, by one round of halves and quarters of a
    /// sample; no blocks smaller than a macroblock except where a picture is predicted from itself; a little less
    /// adaptive quantization; more of the small residues of inter blocks; bits that follow the pictures more closely,
    /// and keyframes only a fifth better than what follows them. That is fewer bits for the same PSNR and SSIM, in
    /// less time. Weighted prediction stays on: without it a fade takes two to three times the bits.
    private static let common =
        "subme=1:me=dia:partitions=i4x4:aq-strength=0.9:deadzone-inter=17:qcomp=0.8:ipratio=1.2"

    /// As `x264-params` says it.
    static func parameters(_ effort: VideoEffort) -> String {
        switch effort {
        case .low: common + ":no-deblock=1"
        case .normal: common
        case .high: common + ":subme=2"
        }
    }

    /// Without subpixel motion, for which x264 keeps three more luma planes of each frame; after `parameters`. What
    /// makes `high` better has no planes then; smaller blocks take its place.
    static func withoutSubpixelMotion(_ effort: VideoEffort?) -> String {
        effort == .high ? "subme=0:partitions=i4x4,p8x8" : "subme=0"
    }
}
