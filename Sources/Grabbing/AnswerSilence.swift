package import MediaCore

/// Notices a server that leaves a question without an answer. Pure.
package struct AnswerSilence: Equatable, Sendable {
    /// How long an answer may take until the user is told.
    package static let limit = MediaTime.seconds(3)
    /// Whoever looks so much later than it was due has stood still itself.
    private static let ownDelay = MediaTime.seconds(1)

    /// Since when the open question waits; nil for none.
    private var asked: MediaTime?
    private var isTold = false

    package init() {}

    /// When to look; nil if that says nothing.
    package var due: MediaTime? { isTold ? nil : asked.map { $0 + Self.limit } }

    package mutating func ask(now: MediaTime) { asked = now }

    /// The answer has come.
    ///
    /// - Returns: whether the user was told that it had not.
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
