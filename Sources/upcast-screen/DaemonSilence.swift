import MediaCore
import UpcastClient

/// Notices a daemon that says nothing any more: it tells its counters each second. Pure.
struct DaemonSilence: Equatable {
    enum News: Equatable { case silent, back }
    /// What it says.
    enum Word: Equatable {
        case counters, other

        init?(_ event: CaptureEvent?) {
            switch event {
            case nil: return nil
            case .counters?: self = .counters
            default: self = .other
            }
        }
    }

    private let limit: MediaTime
    /// When it has said something; nil until counters have come, which older daemons do not send.
    private var heard: MediaTime?
    private var isSilent = false
    /// Whoever looks so much later than it was due has stood still itself.
    private static let ownDelay = MediaTime.seconds(1)

    init(limit: MediaTime) { self.limit = limit }

    /// When to look if nothing comes; nil if that says nothing.
    var due: MediaTime? { isSilent ? nil : heard.map { $0 + limit } }

    /// - Parameter word: nil for nothing.
    /// - Returns: what the user has to know.
    mutating func look(_ word: Word?, now: MediaTime) -> News? {
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
}
