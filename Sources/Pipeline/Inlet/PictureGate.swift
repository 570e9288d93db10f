internal import MediaCore
internal import Privacy

/// Decides what becomes of a client's picture. Pure: it is told what the curtain and the operator want.
struct PictureGate {
    enum Verdict: Equatable {
        case show
        /// It is shown when the curtain falls, unless a newer one comes or somebody objects.
        case keep
        /// Somebody hides what comes meanwhile: it is thrown away.
        case hide
        /// An operator has paused the broadcast: it is thrown away.
        case pause
    }

    /// After a picture whose regions were not understood, none is shown for as long while the curtain is up.
    static let leastHold = MediaTime.seconds(1)

    /// The client's last picture was thrown away, so that no other can be said to look as it does.
    private(set) var hasMissedPicture = false
    private var refusedAt: MediaTime?

    /// A picture begins to come.
    mutating func admit(_ prospect: Curtain.Prospect, isUp: Bool, isPaused: Bool, at arrival: MediaTime) -> Verdict {
        let verdict = verdict(prospect, isUp: isUp, isPaused: isPaused, at: arrival)
        hasMissedPicture = verdict == .hide || verdict == .pause
        return verdict
    }

    /// What would become of a picture at `now`.
    ///
    /// - Parameters:
    ///   - prospect: what the curtain says of it.
    ///   - isUp: the curtain is up; read after `prospect`.
    func verdict(_ prospect: Curtain.Prospect, isUp: Bool, isPaused: Bool, at now: MediaTime) -> Verdict {
        guard !isPaused else { return .pause }
        return switch prospect {
        case .hidden: .hide
        case .kept: .keep
        case .shown: holdEnds(isUp: isUp, at: now) == nil ? .show : .keep
        }
    }

    /// When pictures may be shown again after one that was refused; nil where none was, or they may.
    func holdEnds(isUp: Bool, at now: MediaTime) -> MediaTime? {
        guard let refusedAt, isUp, now - refusedAt < Self.leastHold else { return nil }
        return refusedAt + Self.leastHold
    }

    /// A picture was thrown away that `admit` had let in.
    mutating func miss() { hasMissedPicture = true }

    /// A picture came whose regions were not understood.
    mutating func refuse(at arrival: MediaTime) {
        refusedAt = arrival
        hasMissedPicture = true
    }
}
