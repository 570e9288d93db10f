internal import MediaCore
internal import Privacy

extension CaptureInlet {
    /// What decides which pictures are shown, and what of them.
    struct PrivacyRules: Sendable {
        var curtain: Curtain
        var standing: StandingRegions
        var protections: Protections
        /// Releases every hold that lasts until the next picture that may be shown; that picture's broadcast time.
        var release: @Sendable (MediaTime) -> Void
        /// Takes note that a picture's regions were not understood; a sentence that says why.
        var refuse: @Sendable (String) -> Void
        var secureColor: (red: UInt8, green: UInt8, blue: UInt8)
    }
}
