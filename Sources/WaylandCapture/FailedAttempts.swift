package import MediaCore

/// Decides when to ask again for a picture that the compositor did not give. Pure.
///
/// It gives none while an output changes its mode, which passes at once, or is switched off, which may last for hours.
package struct FailedAttempts: Equatable, Sendable {
    private var count = 0
    /// So many quick attempts, and then slow ones.
    private static let quick = 10

    package init() {}

    package mutating func succeeded() { count = 0 }

    /// - Returns: how long to wait, and whether it is now that somebody should be told.
    package mutating func failed() -> (pause: MediaTime, isNews: Bool) {
        count += 1
        return (count < Self.quick ? .milliseconds(50) : .seconds(1), count == Self.quick)
    }
}
