/// A look-ahead peak limiter. No sample leaves above the ceiling. A signal that never exceeds the ceiling leaves bit
/// for bit.
///
/// The gain that each frame needs is held over the look-ahead, released exponentially, and averaged over the
/// look-ahead. No gain in the average exceeds the frame's need, so the average does not exceed it either. All channels
/// share the gain. Output is `lookahead` frames behind input. Audio thread only; allocates only in `init`.
struct PeakLimiter: ~Copyable {
    private static let lookaheadPerSecond = 200
    private static let releaseSeconds = 0.15

    /// In frames. The window has one more: the look-ahead and the frame that leaves.
    let lookahead: Int
    /// The frames of the look-ahead, followed by those of the block. `process` leaves its result at the start.
    let buffer: FloatPlanes
    /// The number of frames attenuated so far.
    private(set) var limitedFrames = 0

    private let ceiling: Float
    private let blockFrames: Int
    private let release: Double
    private var leastNeeded: SlidingMinimum
    /// The gains in the window as a ring; the oldest is at `slot`.
    private let gains: FloatPlanes
    private var slot = 0
    private var gainSum: Double
    private var gain = 1.0
    /// The number of consecutive frames with a gain of one, up to the window's length. At that length there is nothing
    /// to limit.
    private var idleFrames: Int

    /// - Parameter ceiling: linear, not in dB.
    init(sampleRate: Int, channels: Int, ceiling: Float, blockFrames: Int) {
        lookahead = Self.lookahead(sampleRate: sampleRate)
        let window = lookahead + 1
        buffer = FloatPlanes(channels: channels, capacity: lookahead + blockFrames)
        self.ceiling = ceiling
        self.blockFrames = blockFrames
        // To first order, 1/e of a reduction remains after the release time.
        release = 1 / (Self.releaseSeconds * Double(sampleRate))
        leastNeeded = SlidingMinimum(window: window)
        gains = FloatPlanes(channels: 1, capacity: window)
        unsafe gains[0].update(repeating: 1, count: window)
        gainSum = Double(window)
        idleFrames = window
    }

    static func lookahead(sampleRate: Int) -> Int { sampleRate / lookaheadPerSecond }

    static func memoryBytes(sampleRate: Int, channels: Int, blockFrames: Int) -> Int {
        let lookahead = lookahead(sampleRate: sampleRate)
        return FloatPlanes.memoryBytes(channels: channels, capacity: lookahead + blockFrames)
            + FloatPlanes.memoryBytes(channels: 1, capacity: lookahead + 1)
            + SlidingMinimum.memoryBytes(window: lookahead + 1)
    }

    /// Appends silence for a block of frames after the look-ahead. The caller adds its input there.
    func begin() {
        for channel in 0..<buffer.channels {
            let samples = unsafe buffer[channel]
            unsafe samples.update(from: samples + blockFrames, count: lookahead)
            unsafe (samples + lookahead).update(repeating: 0, count: blockFrames)
        }
    }

    /// Limits a block. Returns whether all samples are zero.
    mutating func process() -> Bool {
        let peak = Self.peak(buffer, from: lookahead, count: blockFrames)
        if peak > ceiling || idleFrames <= lookahead {
            limit()
        } else {
            leastNeeded.removeAll()
        }
        return Self.peak(buffer, from: 0, count: blockFrames) == 0
    }

    private mutating func limit() {
        let window = lookahead + 1
        let gains = unsafe gains[0]
        for frame in 0..<blockFrames {
            var peak: Float = 0
            for channel in 0..<buffer.channels { peak = unsafe max(peak, abs(buffer[channel][lookahead + frame])) }
            leastNeeded.push(peak > ceiling ? ceiling / peak : 1)

            gain = min(Double(leastNeeded.minimum), gain + (1 - gain) * release)
            // The last thousandth of a decibel would take as long as the whole release before it.
            if gain > 0.9999, leastNeeded.minimum == 1 { gain = 1 }
            idleFrames = gain == 1 ? min(window, idleFrames + 1) : 0
            gainSum += gain - Double(unsafe gains[slot])
            unsafe gains[slot] = Float(gain)
            slot = slot + 1 == window ? 0 : slot + 1
            // All gains in the window are one, so the sum is set exactly and rounding errors end.
            if idleFrames == window { gainSum = Double(window) }

            guard idleFrames < window else { continue }
            let smooth = Float(gainSum / Double(window))
            limitedFrames += 1
            for channel in 0..<buffer.channels {
                let sample = unsafe buffer[channel][frame] * smooth
                unsafe buffer[channel][frame] = min(max(sample, -ceiling), ceiling)
            }
        }
    }

    /// The largest magnitude, by comparing bits: integers have a vector maximum without special cases for NaN.
    private static func peak(_ planes: borrowing FloatPlanes, from start: Int, count: Int) -> Float {
        var largest: UInt32 = 0
        for channel in 0..<planes.channels {
            let samples = unsafe planes[channel] + start
            for index in 0..<count {
                let magnitude = unsafe samples[index].bitPattern & 0x7FFF_FFFF
                largest = magnitude > largest ? magnitude : largest
            }
        }
        return Float(bitPattern: largest)
    }
}
