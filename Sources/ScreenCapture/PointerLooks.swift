package import MediaCore

/// Decides when to ask where the pointer is. Pure.
///
/// After the server has said that a device moves it, no faster than the frame rate; and with the frame rate all the
/// time where the server says nothing. Programs can move it, too (`XWarpPointer`), and no server tells of that: so it
/// is asked for twice a second while nothing else asks, and with the frame rate as long as it moves.
package struct PointerLooks: Equatable, Sendable {
    private let interval: MediaTime
    private let rest: MediaTime
    private let isReported: Bool
    private var last = MediaTime.zero
    private var isToldToMove = false
    private var wasMoving = false

    package init(_ rate: FrameRate, isReported: Bool) {
        interval = MediaTime(sample: Int64(rate.denominator), rate: rate.numerator)
        rest = max(interval, .milliseconds(500))
        self.isReported = isReported
    }

    /// When to ask.
    package var due: MediaTime { last + (isToldToMove || wasMoving || !isReported ? interval : rest) }

    /// The server says that it moves.
    ///
    /// - Returns: whether that was not known.
    package mutating func noteMotion() -> Bool {
        defer { isToldToMove = true }
        return !isToldToMove
    }

    /// Whoever asks now gets the last place.
    ///
    /// - Returns: whether the server had said that it moves.
    package mutating func looked(now: MediaTime) -> Bool {
        defer { (last, isToldToMove) = (now, false) }
        return isToldToMove
    }

    /// The answer.
    package mutating func found(hasMoved: Bool) { wasMoving = hasMoved }
}
