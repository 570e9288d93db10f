/// x264's presets, the fastest first (x264 --fullhelp).
package enum X264Preset: String, CaseIterable, Sendable {
    case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo

    package static let names = allCases.map(\.rawValue)
    /// x264's tunes; several may be given, separated by commas.
    package static let tunes = ["film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency"]
}
