internal import MediaCore

/// What x264's presets mean for memory (x264 --fullhelp).
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

    /// Frames of lookahead, where the tune does not forbid it.
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

    /// True where the search for subpixel motion (subme 6 and more) brings an offset of chroma quantizers with it,
    /// which stands in the picture parameter set.
    var hasChromaOffset: Bool {
        switch self {
        case .ultrafast, .superfast, .veryfast, .faster: false
        case .fast, .medium, .slow, .slower, .veryslow, .placebo: true
        }
    }
}
