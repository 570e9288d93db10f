/// How often the curtain had been raised when something was made: what belongs to an earlier epoch than the last raise
/// is taken back.
package struct CurtainEpoch: Comparable, Hashable, ExpressibleByIntegerLiteral, Sendable {
    /// 0 before the first raise.
    package var raises: UInt32

    package init(raises: UInt32) { self.raises = raises }

    /// A literal is the number of raises.
    package init(integerLiteral raises: UInt32) { self.raises = raises }

    /// Before the curtain was raised for the first time.
    package static let first = CurtainEpoch(raises: 0)

    /// After one more raise.
    package var next: CurtainEpoch { CurtainEpoch(raises: raises + 1) }

    package static func < (left: Self, right: Self) -> Bool { left.raises < right.raises }
}
