package import MediaCore
internal import Synchronization

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
