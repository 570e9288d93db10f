/// The number of times that the curtain had been raised when a frame or packet was made. A raise takes back everything
/// of earlier epochs.
package struct CurtainEpoch: Comparable, Hashable, ExpressibleByIntegerLiteral, Sendable {
    /// The number of raises; 0 before the first one.
    package var raises: UInt32

    package init(raises: UInt32) { self.raises = raises }

    /// A literal is the number of raises.
    package init(integerLiteral raises: UInt32) { self.raises = raises }

    /// The epoch before the first raise.
    package static let first = CurtainEpoch(raises: 0)

    /// The epoch after one more raise.
    package var next: CurtainEpoch { CurtainEpoch(raises: raises + 1) }

    package static func < (left: Self, right: Self) -> Bool { left.raises < right.raises }
}
