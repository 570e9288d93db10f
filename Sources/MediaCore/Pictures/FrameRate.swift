/// Frames per second as a fraction, never in floating point.
package struct FrameRate: Equatable, Sendable, CustomStringConvertible {
    package let numerator: Int
    package let denominator: Int

    package init(_ numerator: Int, _ denominator: Int = 1) {
        precondition(numerator > 0 && denominator > 0, "a frame rate is positive")
        self.numerator = numerator
        self.denominator = denominator
    }

    /// Time from one frame to the next, rounded down to the nanosecond.
    package var frameDuration: MediaTime {
        MediaTime(nanoseconds: Int64(denominator) * 1_000_000_000 / Int64(numerator))
    }
    package var framesPerSecond: Double { Double(numerator) / Double(denominator) }
    package var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}
