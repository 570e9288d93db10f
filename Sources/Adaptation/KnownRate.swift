/// What a link is known to carry, in bits a second with the audio. Pure.
struct KnownRate: Equatable, Sendable {
    /// From when the link was full, or from what has gone through since; nil until it is full for the first time, and
    /// while there is no limit.
    private(set) var value: Double?
    /// What was known before the link was full last, or what went through then, if that was more or another link.
    private(set) var mostWhenFull = 0.0

    /// What is known becomes less by as much each time that the link is full and less was measured.
    private static let forgetting = 0.9
    /// A link that carries a smaller share of what was known counts as another one.
    private static let sameLinkShare = 0.5

    /// The link is full at this rate. A measurement that is too low must not hide what was known, or the next trials
    /// would take its limit for a better link.
    ///
    /// - Returns: whether it is the link that was known, or the first one.
    mutating func noteFull(_ rate: Double) -> Bool {
        guard let value, rate > value * Self.sameLinkShare else {
            defer { (value, mostWhenFull) = (rate, rate) }
            return value == nil
        }
        (self.value, mostWhenFull) = (max(rate, value * Self.forgetting), max(rate, value))
        return true
    }

    /// More than what was known has gone through.
    mutating func noteMore(_ rate: Double) { value = rate }

    /// As much as is wanted is tried: only the next time that the link is full shows what it carries.
    mutating func noteNoLimit() { value = nil }
}
