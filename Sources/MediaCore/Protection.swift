/// The protections of viewers' privacy, each with its own switch. Raw values are keys of the configuration.
package enum Protection: String, CaseIterable, Sendable {
    /// Regions that the client's samples mark as hidden.
    case secureRegions = "secure_regions"
    /// Regions that apps and operators keep hidden.
    case standingRegions = "standing_regions"
    case curtain
    /// The daemon's own holds: at the start, for invalid regions, and for a client that vanishes.
    case automaticCurtain = "automatic_curtain"
    /// A raise of the curtain throws away unsent packets.
    case takeBack = "take_back"
    /// Apps can learn whether anything is captured.
    case captureState = "capture_state"
}
