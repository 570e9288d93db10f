/// The rate that a link is known to carry, in bits a second with audio. Pure.
struct KnownRate: Equatable, Sendable {
    /// The rate when the link was full, or a higher one since; nil until the link is full for the first time, and while
    /// there is no limit.
    private(set) var value: Double?
    /// The rate known before the link was last full or, if that was more or on another link, the rate measured then.
    private(set) var mostWhenFull = 0.0

    /// The known rate falls at most by this factor each time that the link is full at a lower rate.
    private static let forgetting = 0.9
    /// A link that carries a smaller share of the known rate counts as another one.
    private static let sameLinkShare = 0.5

    /// Notes that the link is full at this rate. A measurement that is too low must not hide the known rate, or the
    /// next trials would take the old limit for a better link.
    ///
    /// - Returns: whether this is the known link, or the first one.
    mutating func noteFull(_ rate: Double) -> Bool {
        guard let value, rate > value * Self.sameLinkShare else {
            defer { (value, mostWhenFull) = (rate, rate) }
            return value == nil
        }
        (self.value, mostWhenFull) = (max(rate, value * Self.forgetting), max(rate, value))
        return true
    }

    /// Notes that more than the known rate has gone through.
    mutating func noteMore(_ rate: Double) { value = rate }

    /// The target is at the ceiling: only the next time that the link is full shows what it carries.
    mutating func noteNoLimit() { value = nil }
}
