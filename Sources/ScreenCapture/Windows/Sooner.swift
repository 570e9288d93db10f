internal import MediaCore

extension MediaTime {
    /// The earlier of two times; nil is never.
    static func sooner(_ a: MediaTime?, _ b: MediaTime?) -> MediaTime? {
        guard let a, let b else { return a ?? b }
        return min(a, b)
    }
}
