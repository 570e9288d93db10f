/// The gain of one source over one block. A new gain is reached at the block's end, so that the change never clicks.
///
/// Linear gains, 0 to 16.
struct GainRamp: Equatable {
    private(set) var from: Float
    private(set) var to: Float

    init(_ gain: Float) { (from, to) = (gain, gain) }

    /// Begins the next block, at whose end the gain is `gain`.
    mutating func aim(at gain: Float) { (from, to) = (to, gain) }

    /// The change of the gain from one of `count` frames to the next.
    func step(count: Int) -> Float { count > 0 ? (to - from) / Float(count) : 0 }
}
