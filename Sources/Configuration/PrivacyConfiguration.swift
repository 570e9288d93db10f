package import MediaCore

/// What viewers get in place of what is private, and which protections are there.
package struct PrivacyConfiguration: Equatable, Sendable {
    /// Raw values are those of the configuration.
    package enum CurtainStyle: String, CaseIterable, Sendable {
        case solid
        case frostedLight = "frosted_light"
        case frostedExtraLight = "frosted_extra_light"
        case frostedDark = "frosted_dark"
        case picture
    }

    /// What secure regions are painted with.
    package var secureColor = RGBColor(red: 0, green: 0, blue: 0)
    package var curtainStyle = CurtainStyle.solid
    /// Of a solid curtain, and behind a picture.
    package var curtainColor = RGBColor(red: 0, green: 0, blue: 0)
    /// Written on any curtain but a picture; at most `maxTextCharacters`, all in the font, and line breaks.
    package var curtainText = ""
    /// Nil for white or black, whichever stands out.
    package var curtainTextColor: RGBColor?
    /// The path of a PNG or JPEG file, for `CurtainStyle.picture`.
    package var curtainPicture: String?

    package static let maxTextCharacters = 200

    /// Whether what the client's samples name is hidden.
    package var secureRegions = true
    /// Whether apps and operators can keep regions hidden.
    package var standingRegions = true
    /// Whether there is a curtain.
    package var curtain = true
    /// Whether the daemon raises it by itself.
    package var automaticCurtain = true
    /// Whether it takes back what waits to be sent.
    package var takeBack = true
    /// Of what waits to be sent, only what is newer than this is taken back; zero for all.
    package var takeBackNewerThan = MediaTime.zero
    /// Whether apps are told that something is captured.
    package var captureState = true
    /// A file that gets a line for each change of what is hidden.
    package var auditFile: String?
    /// Whether the process's memory may get into a core file, and be read by others of its user.
    package var dumpable = false
    /// A file in which holds, regions and switches outlive the daemon.
    package var stateFile: String?
    /// How long apps that were consulted before a restart are waited for; zero until they come back.
    package var consultedReturn = MediaTime.seconds(3)

    package init() {}
}
