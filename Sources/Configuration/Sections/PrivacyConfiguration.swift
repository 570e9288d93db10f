package import MediaCore

/// The appearance of hidden content, and the protections.
package struct PrivacyConfiguration: Equatable, Sendable {
    /// Raw values are the configuration values.
    package enum CurtainStyle: String, CaseIterable, Sendable {
        case solid
        case frostedLight = "frosted_light"
        case frostedExtraLight = "frosted_extra_light"
        case frostedDark = "frosted_dark"
        case picture
    }

    /// The colour of secure regions.
    package var secureColor = RGBColor(red: 0, green: 0, blue: 0)
    package var curtainStyle = CurtainStyle.solid
    /// The colour of a solid curtain, and of the bars beside a picture.
    package var curtainColor = RGBColor(red: 0, green: 0, blue: 0)
    /// The text of the curtain, except with `CurtainStyle.picture`. At most `maxTextCharacters`, all in the font.
    package var curtainText = ""
    /// Nil selects white or black, whichever has more contrast.
    package var curtainTextColor: RGBColor?
    /// The path of a PNG or JPEG file, for `CurtainStyle.picture`.
    package var curtainPicture: String?

    package static let maxTextCharacters = 200

    /// Whether the secure regions of frames are painted over.
    package var secureRegions = true
    /// Whether apps and operators can hide regions of all frames.
    package var standingRegions = true
    /// Whether the curtain can be raised.
    package var curtain = true
    /// Whether the daemon raises the curtain by itself.
    package var automaticCurtain = true
    /// Whether raising the curtain takes back packets that are not sent yet.
    package var takeBack = true
    /// Only packets newer than this are taken back; zero takes back all.
    package var takeBackNewerThan = MediaTime.zero
    /// Whether apps can read the capture state.
    package var captureState = true
    /// The audit log: one line for each change of what is hidden.
    package var auditFile: String?
    /// Whether core files are allowed, and other processes of the user can read the daemon's memory.
    package var dumpable = false
    /// The file that keeps holds, regions and protections across restarts.
    package var stateFile: String?
    /// How long a broadcast waits for apps that were consulted before a restart; zero waits until they reconnect.
    package var consultedReturn = MediaTime.seconds(3)

    package init() {}
}
