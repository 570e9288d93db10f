package import MediaCore

/// Decides when to ask again for a picture that the compositor did not give. Pure.
///
/// The compositor gives no picture while an output changes its mode, which is over at once, or while it is switched
/// off, which may last for hours.
package struct FailedAttempts: Equatable, Sendable {
    private var count = 0
    /// This many attempts are quick; later ones are slow.
    private static let quick = 10

    package init() {}

    package mutating func succeeded() { count = 0 }

    /// - Returns: how long to wait, and whether to report the failure now.
    package mutating func failed() -> (pause: MediaTime, isNews: Bool) {
        count += 1
        return (count < Self.quick ? .milliseconds(50) : .seconds(1), count == Self.quick)
    }
}
