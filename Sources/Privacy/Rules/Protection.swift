internal import Synchronization

/// What keeps something from viewers, each with a switch of its own. Raw values are keys of the configuration.
package enum Protection: String, CaseIterable, Sendable {
    /// What the client's samples say that is not to be shown.
    case secureRegions = "secure_regions"
    /// What apps and operators keep hidden.
    case standingRegions = "standing_regions"
    case curtain
    /// The daemon raises the curtain by itself: at the start, for regions that it does not understand, for a client
    /// that vanishes.
    case automaticCurtain = "automatic_curtain"
    /// With the curtain, what waits to be sent is thrown away.
    case takeBack = "take_back"
    /// Whoever may ask is told whether anything is captured.
    case captureState = "capture_state"
}

/// Which protections are on. Any thread.
package final class Protections: Sendable {
    private let bits: Atomic<UInt32>

    package init(off: Set<Protection> = []) {
        bits = Atomic(Protection.allCases.filter { !off.contains($0) }.reduce(0) { $0 | Self.bit($1) })
    }

    package func isOn(_ protection: Protection) -> Bool {
        bits.load(ordering: .acquiring) & Self.bit(protection) != 0
    }

    /// Returns whether that has changed anything.
    package func set(_ protection: Protection, on isOn: Bool) -> Bool {
        let bit = Self.bit(protection)
        let old =
            isOn
            ? bits.bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue
            : bits.bitwiseAnd(~bit, ordering: .acquiringAndReleasing).oldValue
        return (old & bit != 0) != isOn
    }

    private static func bit(_ protection: Protection) -> UInt32 {
        1 << UInt32(Protection.allCases.firstIndex(of: protection) ?? 31)
    }
}
