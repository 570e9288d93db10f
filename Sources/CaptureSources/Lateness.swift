internal import MediaCore

/// What becomes of samples that come after they were due.
///
/// A source that was held up, such as a pipe, either makes up for it, by a burst, or goes on from where it is, and then
/// the time is lost. One that keeps us waiting and stays late without gaining is moved up to the clock, so that no
/// delay adds up. Samples that are very late are left out, which lets a burst catch up, and keeps tracks in step where
/// it is the daemon that holds us up.
struct Lateness {
    enum Verdict: Equatable {
        case send
        case leaveOut
        /// The source has lost this much time: this sample and all later ones move up by it.
        case moveUp(MediaTime)
    }

    /// Less than this is jitter.
    static let least = MediaTime.milliseconds(500)
    /// Later than this nobody waits for a sample any more.
    static let most = MediaTime.seconds(1)
    /// In this time a source that makes up for its delay gains a tenth of it at least.
    static let patience = MediaTime.milliseconds(500)
    private static let leastGain = MediaTime.milliseconds(50)

    /// When the source was found late, by how much, and how long it has kept us waiting since.
    private var began: (at: MediaTime, lateness: MediaTime, waited: MediaTime)?

    /// - Parameters:
    ///   - due: when the sample should have been sent.
    ///   - asked: when the source was asked for it.
    ///   - now: when it was there.
    mutating func judge(due: MediaTime, asked: MediaTime, now: MediaTime) -> Verdict {
        let lateness = now - due
        guard lateness > Self.least else {
            began = nil
            return .send
        }
        guard let (at, before, waited) = began else {
            began = (now, lateness, .zero)
            return verdict(lateness)
        }
        let waiting = waited + (now - asked)
        if now - at < Self.patience {
            began = (at, before, waiting)
        } else if before - lateness < Self.leastGain, waiting + waiting >= now - at {
            began = nil
            return .moveUp(lateness)
        } else {
            began = (now, lateness, .zero)
        }
        return verdict(lateness)
    }

    private func verdict(_ lateness: MediaTime) -> Verdict { lateness > Self.most ? .leaveOut : .send }
}
