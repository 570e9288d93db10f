internal import Synchronization

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
