internal import MediaCore
internal import Privacy

extension CaptureInlet {
    /// The parts of privacy that decide which pictures are shown, and what of them is hidden.
    struct PrivacyRules: Sendable {
        var curtain: Curtain
        var standing: StandingRegions
        var protections: Protections
        /// Releases all holds that end with the next allowed picture. The argument is its broadcast time.
        var release: @Sendable (MediaTime) -> Void
        /// Reports a picture whose regions are invalid. The argument is a sentence with the reason.
        var refuse: @Sendable (String) -> Void
        var secureColor: (red: UInt8, green: UInt8, blue: UInt8)
    }
}
