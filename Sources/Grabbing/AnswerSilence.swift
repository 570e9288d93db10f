package import MediaCore

/// Notices a server that does not answer a request. Pure.
package struct AnswerSilence: Equatable, Sendable {
    /// How long an answer may take until the user is told.
    package static let limit = MediaTime.seconds(3)
    /// A look that comes this late means that this process itself has stood still.
    private static let ownDelay = MediaTime.seconds(1)

    /// Since when a request has waited for its answer; nil for none.
    private var asked: MediaTime?
    private var isTold = false

    package init() {}

    /// When to look; nil if no request waits, or the user was told.
    package var due: MediaTime? { isTold ? nil : asked.map { $0 + Self.limit } }

    package mutating func ask(now: MediaTime) { asked = now }

    /// The answer has come.
    ///
    /// - Returns: whether the user was told that the answer was missing.
    package mutating func answered() -> Bool {
        defer { (asked, isTold) = (nil, false) }
        return isTold
    }

    /// - Returns: whether the user has to be told.
    package mutating func look(now: MediaTime) -> Bool {
        guard let due, now >= due else { return false }
        guard now < due + Self.ownDelay else {
            asked = now
            return false
        }
        isTold = true
        return true
    }
}
