package import MediaCore

/// Decides when to ask where the pointer is: after the server has said that it moves, and no faster than the frame
/// rate; all the time where the server says nothing. Pure.
package struct PointerLooks: Equatable, Sendable {
    private let interval: MediaTime
    private let isReported: Bool
    private var last = MediaTime.zero
    private var hasMoved = false

    package init(_ rate: FrameRate, isReported: Bool) {
        interval = MediaTime(sample: Int64(rate.denominator), rate: rate.numerator)
        self.isReported = isReported
    }

    /// When to ask; nil while it rests.
    package var due: MediaTime? { hasMoved || !isReported ? last + interval : nil }

    /// The server says that it moves.
    ///
    /// - Returns: whether that was not known.
    package mutating func noteMotion() -> Bool {
        defer { hasMoved = true }
        return !hasMoved
    }

    /// Whoever asks now gets the last place.
    package mutating func looked(now: MediaTime) { (last, hasMoved) = (now, false) }
}
