internal import MediaCore
internal import Privacy

/// Decides whether an encoder's thread continues to fill a gap, which consists of hundreds of pieces after a long
/// delay. Asked before each piece. A pure value, so tests need no clock.
struct FillLimit {
    /// The longest time to fill a gap while the broadcast ends. The rest stays a gap.
    static let longestAtTheEnd = MediaTime.seconds(1)

    private var end: MediaTime?

    /// - Parameters:
    ///   - epoch: the raise whose gap is filled; a later raise takes the filling back, too.
    ///   - isEnding: whether the broadcast ends.
    mutating func goesOn(_ epoch: CurtainEpoch, current: Curtain.Stamp, isEnding: Bool, at now: MediaTime) -> Bool {
        guard current.epoch == epoch else { return false }
        guard isEnding else { return true }
        let end = end ?? now + Self.longestAtTheEnd
        self.end = end
        return now < end
    }
}
