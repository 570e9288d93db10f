package import MediaCore

/// Decides when to ask where the pointer is. Pure.
///
/// After the server has reported motion by a device, it asks at most at the frame rate. If the server reports no
/// motion, it always asks at the frame rate. Programs can move the pointer, too (`XWarpPointer`), which no server
/// reports. So it asks twice a second while nothing else asks, and at the frame rate while the pointer moves.
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

    /// The server reports that the pointer moves.
    ///
    /// - Returns: whether this is news.
    package mutating func noteMotion() -> Bool {
        defer { isToldToMove = true }
        return !isToldToMove
    }

    /// The caller asks for the pointer's place now.
    ///
    /// - Returns: whether the server had reported motion.
    package mutating func looked(now: MediaTime) -> Bool {
        defer { (last, isToldToMove) = (now, false) }
        return isToldToMove
    }

    /// Takes the server's answer.
    package mutating func found(hasMoved: Bool) { wasMoving = hasMoved }
}
