internal import MediaCore

/// Properties of x264's presets that affect memory (x264 --fullhelp).
extension X264Preset {
    /// Reference frames.
    var references: Int {
        switch self {
        case .ultrafast, .superfast, .veryfast: 1
        case .faster, .fast: 2
        case .medium: 3
        case .slow: 5
        case .slower: 8
        case .veryslow, .placebo: 16
        }
    }

    /// Lookahead in frames, unless the tune disables it.
    var lookahead: Int {
        switch self {
        case .ultrafast, .superfast: 0
        case .veryfast: 10
        case .faster: 20
        case .fast: 30
        case .medium: 40
        case .slow: 50
        case .slower, .veryslow, .placebo: 60
        }
    }

    /// Whether the preset's subpixel search (subme 6 and more) sets a chroma quantizer offset, which is part of the
    /// picture parameter set.
    var hasChromaOffset: Bool {
        switch self {
        case .ultrafast, .superfast, .veryfast, .faster: false
        case .fast, .medium, .slow, .slower, .veryslow, .placebo: true
        }
    }
}
