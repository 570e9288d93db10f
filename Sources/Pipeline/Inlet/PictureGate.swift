internal import MediaCore
internal import Privacy

/// Decides whether a client's picture is shown, kept or dropped. Pure: callers pass the state of curtain and operator.
struct PictureGate {
    enum Verdict: Equatable {
        case show
        /// The picture is shown when the curtain falls, unless a newer one comes or a holder objects.
        case keep
        /// A holder objects to pictures: it is dropped.
        case hide
        /// An operator has paused the broadcast: it is dropped.
        case pause
    }

    /// The time after a refusal for which no picture is shown while the curtain is up.
    static let leastHold = MediaTime.seconds(1)

    /// The client's last picture was dropped. The next one cannot refer to it.
    private(set) var hasMissedPicture = false
    private var refusedAt: MediaTime?

    /// Decides about a picture whose first bytes arrive.
    mutating func admit(_ prospect: Curtain.Prospect, isUp: Bool, isPaused: Bool, at arrival: MediaTime) -> Verdict {
        let verdict = verdict(prospect, isUp: isUp, isPaused: isPaused, at: arrival)
        hasMissedPicture = verdict == .hide || verdict == .pause
        return verdict
    }

    /// The verdict for a picture at `now`. Changes nothing.
    ///
    /// - Parameters:
    ///   - prospect: what the curtain's holders allow for the picture.
    ///   - isUp: whether the curtain is up; read after `prospect`.
    func verdict(_ prospect: Curtain.Prospect, isUp: Bool, isPaused: Bool, at now: MediaTime) -> Verdict {
        guard !isPaused else { return .pause }
        return switch prospect {
        case .hidden: .hide
        case .kept: .keep
        case .shown: holdEnds(isUp: isUp, at: now) == nil ? .show : .keep
        }
    }

    /// The time from which pictures may be shown again after a refusal; nil if they may be shown now.
    func holdEnds(isUp: Bool, at now: MediaTime) -> MediaTime? {
        guard let refusedAt, isUp, now - refusedAt < Self.leastHold else { return nil }
        return refusedAt + Self.leastHold
    }

    /// Notes that a picture was dropped after `admit` had accepted it.
    mutating func miss() { hasMissedPicture = true }

    /// Notes a picture with invalid regions.
    mutating func refuse(at arrival: MediaTime) {
        refusedAt = arrival
        hasMissedPicture = true
    }
}
