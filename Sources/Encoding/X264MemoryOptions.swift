internal import MediaCore

/// What a user's options of libx264 ask for of what takes memory; nil where they do not say.
struct X264MemoryOptions {
    /// Frames that wait to be encoded.
    private(set) var lookahead: Int?
    private(set) var references: Int?
    private(set) var bFrames: Int?
    private(set) var usesSubpixels: Bool?

    init(_ options: [VideoEncoderSettings.Option]) {
        // libavcodec applies `x264opts` before its own options, and `x264-params` after them.
        func rank(_ name: String) -> Int { name == "x264opts" ? 0 : name == "x264-params" ? 2 : 1 }
        for option in options.sorted(by: { rank($0.name) < rank($1.name) }) {
            for part in X264Option.all(in: option.name, option.value) { note(part) }
        }
    }

    private mutating func note(_ option: X264Option) {
        // x264 reads numbers as C does, and takes what is too large as the most.
        guard let number = Int(option.value) else { return }
        switch option.canonicalName {
        case "rc-lookahead": lookahead = min(250, max(0, number))
        case "ref", "refs", "frameref": references = min(16, max(1, number))
        case "bf", "bframes": bFrames = min(16, max(0, number))
        case "subme", "subq": usesSubpixels = number > 0
        default: break
        }
    }
}
