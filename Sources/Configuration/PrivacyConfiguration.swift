/// What viewers get in place of what is private, and which protections are there.
package struct PrivacyConfiguration: Equatable, Sendable {
    /// Raw values are those of the configuration.
    package enum CurtainStyle: String, CaseIterable, Sendable {
        case solid
        case frostedLight = "frosted_light"
        case frostedExtraLight = "frosted_extra_light"
        case frostedDark = "frosted_dark"
    }

    /// What secure regions are painted with.
    package var secureColor = RGBColor(red: 0, green: 0, blue: 0)
    package var curtainStyle = CurtainStyle.solid
    /// Of a solid curtain.
    package var curtainColor = RGBColor(red: 0, green: 0, blue: 0)

    package init() {}
}
