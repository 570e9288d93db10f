package import MediaCore

/// Notices when the daemon falls silent: it sends its counters each second. Pure.
package struct DaemonSilence: Equatable, Sendable {
    package enum News: Equatable, Sendable { case silent, back }
    /// What the daemon sends.
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

    /// The daemon sends its counters each second. If it has sent nothing for this time, the user is told.
    package static let usualLimit = MediaTime.seconds(5)

    private let limit: MediaTime
    /// When the daemon last sent something; nil until counters have come, which older daemons do not send.
    private var heard: MediaTime?
    private var isSilent = false
    /// If `look` is called this much later than it was due, this program itself has stood still.
    private static let ownDelay = MediaTime.seconds(1)

    package init(limit: MediaTime = Self.usualLimit) { self.limit = limit }

    /// When to call `look` if nothing comes; nil if silence means nothing.
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

    /// What is wrong, and what the user can do, in a program whose sends may wait for a minute.
    package static let sentence =
        "upcastd has said nothing for \(usualLimit.milliseconds / 1000) s: it is stopped, or hangs, and viewers get "
        + "nothing new; the broadcast goes on if it is back within a minute, or else restart it"
    package static let backSentence = "upcastd goes on, and so does the broadcast"
}
