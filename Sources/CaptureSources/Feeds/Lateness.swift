internal import MediaCore

/// Decides about samples that are late.
///
/// A source that was delayed, such as a pipe, either catches up in a burst or continues from the present and has lost
/// the time. If a source makes its reader wait and stays late without catching up, its samples move up to the clock, so
/// that delays do not add up. Very late samples are left out. That helps a burst to catch up, and keeps tracks in sync
/// if the daemon causes the delay.
struct Lateness {
    enum Verdict: Equatable {
        case send
        case leaveOut
        /// The source has lost this much time. This sample and all later ones move up by it.
        case moveUp(MediaTime)
    }

    /// Shorter delays are jitter.
    static let least = MediaTime.milliseconds(500)
    /// Samples later than this are left out.
    static let most = MediaTime.seconds(1)
    /// Within this time, a source that catches up reduces its lateness by at least a tenth of it.
    static let patience = MediaTime.milliseconds(500)
    private static let leastGain = MediaTime.milliseconds(50)

    /// When the source was first late, by how much, and how long the reader has waited for it since.
    private var began: (at: MediaTime, lateness: MediaTime, waited: MediaTime)?

    /// - Parameters:
    ///   - due: when the sample should have been sent.
    ///   - asked: when the reader began to read the sample.
    ///   - now: when it was read.
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
