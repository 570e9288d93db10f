internal import MediaCore

/// Tells brief stalls of a link from breaks that belong to its rate. Pure.
///
/// A break is a time in which nothing moves. Any link has one now and then, as WiFi does. A rate that is measured over
/// such a stall is less than the link carries. A slow link may move in bursts, and a poor one stalls often: what they
/// carry is the rate with the breaks.
struct BriefStalls: Sendable {
    /// When the last break ended; nil before the first.
    private var last: MediaTime?
    /// Whether packets have been on time since then.
    private var hasBeenCalm = true
    /// Whether packets were shed in the last break or since; and in the present one.
    private var hasShedSince = false
    private var hasShedInBreak = false

    /// A break soon after the last one belongs to the rate.
    private static let burstMemory = MediaTime.seconds(2)
    /// What was shed around a break that was at least this long ago says nothing about the next one.
    private static let sheddingMemory = MediaTime.seconds(8)

    /// Notes that packets were shed, in a break or not.
    mutating func noteShed(isInBreak: Bool) {
        if isInBreak { hasShedInBreak = true } else { hasShedSince = true }
    }

    /// Notes that packets are on time.
    mutating func noteCalm() { hasBeenCalm = true }

    /// Notes the end of a break.
    ///
    /// - Returns: whether it stands alone: the last break was a while ago, packets have been on time since, and none
    ///   were shed between the two, unless that one was long ago.
    mutating func endBreak(at now: MediaTime) -> Bool {
        let age = last.map { now - $0 } ?? Self.sheddingMemory
        defer {
            (last, hasBeenCalm) = (now, false)
            (hasShedSince, hasShedInBreak) = (hasShedInBreak, false)
        }
        return age >= Self.burstMemory && hasBeenCalm && (!hasShedSince || age >= Self.sheddingMemory)
    }
}
