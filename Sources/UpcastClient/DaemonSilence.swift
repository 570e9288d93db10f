package import MediaCore

/// Notices a daemon that says nothing any more: it tells its counters each second. Pure.
package struct DaemonSilence: Equatable, Sendable {
    package enum News: Equatable, Sendable { case silent, back }
    /// What it says.
    package enum Word: Equatable, Sendable {
        case counters, other

        package init?(_ event: CaptureEvent?) {
            switch event {
            case nil: return nil
            case .counters?: self = .counters
            default: self = .other
            }
        }
    }

    /// The daemon tells its counters each second. When it has told nothing for so long, the user is told.
    package static let usualLimit = MediaTime.seconds(5)

    private let limit: MediaTime
    /// When it has said something; nil until counters have come, which older daemons do not send.
    private var heard: MediaTime?
    private var isSilent = false
    /// Whoever looks so much later than it was due has stood still itself.
    private static let ownDelay = MediaTime.seconds(1)

    package init(limit: MediaTime = Self.usualLimit) { self.limit = limit }

    /// When to look if nothing comes; nil if that says nothing.
    package var due: MediaTime? { isSilent ? nil : heard.map { $0 + limit } }

    /// - Parameter word: nil for nothing.
    /// - Returns: what the user has to know.
    package mutating func look(_ word: Word?, now: MediaTime) -> News? {
        if let word {
            defer { isSilent = false }
            if word == .counters || heard != nil { heard = now }
            return isSilent ? .back : nil
        }
        guard let due, now >= due else { return nil }
        guard now < due + Self.ownDelay else {
            heard = now
            return nil
        }
        isSilent = true
        return .silent
    }

    /// What happens, and what would be right, in a program whose sends may wait for a minute.
    package static let sentence =
        "upcastd has said nothing for \(usualLimit.milliseconds / 1000) s: it is stopped, or hangs, and viewers get "
        + "nothing new; the broadcast goes on if it is back within a minute, or else restart it"
    package static let backSentence = "upcastd goes on, and so does the broadcast"
}
