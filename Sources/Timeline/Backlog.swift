/// Distinguishes a backlog from a clock that stood still. One for each track.
///
/// In both cases, samples continue the track but are too late: by the length of a stall of the client or of the daemon
/// itself, or of a pause. A backlog arrives faster than time passes, so its samples become less late. After a clock has
/// stood still, all samples stay as late as the first.
struct Backlog: Sendable {
    /// A backlog gains at least `leastGain` in this time. Longer than the bursts of audio.
    static let patience: Int64 = 1_000_000_000
    private static let leastGain: Int64 = 100_000_000
    /// Samples that become later by this have been held up again. More than a burst of audio: its first block is half a
    /// second later than its last.
    private static let newStall: Int64 = 600_000_000

    private var since: (lateness: Int64, arrival: Int64)?
    /// The least lateness so far.
    private(set) var leastLateness = Int64.max

    /// Notes a sample that is too late. Returns false if the lateness lasts.
    mutating func isArriving(lateness: Int64, arrival: Int64) -> Bool {
        guard let since, lateness &- since.lateness < Self.newStall else {
            self = Backlog(since: (lateness, arrival), leastLateness: lateness)
            return true
        }
        leastLateness = min(leastLateness, lateness)
        if since.lateness &- lateness >= Self.leastGain { self.since = (lateness, arrival) }
        return arrival &- (self.since ?? since).arrival < Self.patience
    }

    /// Notes a sample that is not too late.
    mutating func end() { since = nil }
}
