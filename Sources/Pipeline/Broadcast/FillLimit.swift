internal import MediaCore
internal import Privacy

/// Whether an encoder's thread goes on filling a gap, which with a long delay is hundreds of pieces. Asked before each;
/// a pure value, so that it is tested without a clock.
struct FillLimit {
    /// For a broadcast that ends meanwhile; what is missing then is a gap.
    static let longestAtTheEnd = MediaTime.seconds(1)

    private var end: MediaTime?

    /// - Parameters:
    ///   - epoch: the raise whose gap is filled; a later one takes the filling back, too.
    ///   - isEnding: the broadcast ends.
    mutating func goesOn(_ epoch: CurtainEpoch, current: Curtain.Stamp, isEnding: Bool, at now: MediaTime) -> Bool {
        guard current.epoch == epoch else { return false }
        guard isEnding else { return true }
        let end = end ?? now + Self.longestAtTheEnd
        self.end = end
        return now < end
    }
}
