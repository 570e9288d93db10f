internal import Glibc

/// How loud a source is, after its gain. Peak and RMS are of the last full window of half a second, over all channels.
///
/// Pure; frames are at the mixer's rate.
package struct SoundLevel: Equatable, Sendable {
    /// Below this peak (-60 dBFS) a block counts as silence: noise of a converter or dither is no sound.
    static let silence: Float = 0.001
    /// The level of digital silence in dBFS, which has no logarithm.
    package static let floor = -100.0

    /// Of the last full window, linear: 1 is full scale.
    package private(set) var peak: Float = 0
    package private(set) var meanSquare: Float = 0
    /// Frames since the end of the last block with sound.
    package private(set) var silentFrames = 0

    private var window = Block()
    private var windowFrames = 0

    package init() {}

    /// The result of one pass over samples.
    struct Block: Equatable {
        var peak: Float = 0
        var sumOfSquares: Float = 0

        mutating func add(_ other: Block) {
            peak = max(peak, other.peak)
            sumOfSquares += other.sumOfSquares
        }
    }

    /// - Parameters:
    ///   - block: of `frames` frames of `channels` channels.
    ///   - fullWindow: frames of half a second.
    mutating func note(_ block: Block, frames: Int, channels: Int, fullWindow: Int) {
        silentFrames = block.peak < Self.silence ? silentFrames + frames : 0
        window.add(block)
        windowFrames += frames
        guard windowFrames >= fullWindow else { return }
        (peak, meanSquare) = (window.peak, window.sumOfSquares / Float(windowFrames * channels))
        (window, windowFrames) = (Block(), 0)
    }

    /// In dBFS, to a tenth; at least `floor`.
    package var peakDecibels: Double { Self.decibels(20, peak) }
    package var rmsDecibels: Double { Self.decibels(10, meanSquare) }

    private static func decibels(_ factor: Double, _ value: Float) -> Double {
        guard value > 0 else { return floor }
        return max(floor, (factor * log10(Double(value)) * 10).rounded() / 10)
    }
}
