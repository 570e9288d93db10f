internal import MediaCore

/// The values of a user's libx264 options that affect memory; nil if they are not set.
struct X264MemoryOptions {
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
        // x264 parses numbers like C, and limits values that are too large.
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
