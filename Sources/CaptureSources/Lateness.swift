internal import MediaCore

/// What becomes of a pipe's samples that come after they were due.
///
/// A writer that was held up either makes up for it, by a burst, or goes on from where it is, and then the time is lost.
/// A pipe that stays late without gaining is moved up to the clock, so that no delay adds up; samples that are very late
/// are left out, which lets a burst catch up.
struct Lateness {
    enum Verdict: Equatable {
        case send
        case leaveOut
        /// The pipe has lost this much time: this sample and all later ones move up by it.
        case moveUp(MediaTime)
    }

    /// Less than this is jitter.
    static let least = MediaTime.milliseconds(500)
    /// Later than this nobody waits for a sample any more.
    static let most = MediaTime.seconds(1)
    /// In this time a pipe that makes up for its delay gains a tenth of it at least.
    static let patience = MediaTime.milliseconds(500)
    private static let leastGain = MediaTime.milliseconds(50)

    /// When the pipe was found late, and by how much.
    private var began: (at: MediaTime, lateness: MediaTime)?

    /// - Parameters:
    ///   - due: when the sample should have been sent.
    ///   - now: when it was there.
    mutating func judge(due: MediaTime, now: MediaTime) -> Verdict {
        let lateness = now - due
        guard lateness > Self.least else {
            began = nil
            return .send
        }
        let (at, before) = began ?? (now, lateness)
        if now - at >= Self.patience {
            guard before - lateness >= Self.leastGain else {
                began = nil
                return .moveUp(lateness)
            }
            began = (now, lateness)
        } else {
            began = (at, before)
        }
        return lateness > Self.most ? .leaveOut : .send
    }
}
