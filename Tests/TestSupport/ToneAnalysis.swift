import Foundation

/// Level and pitch of pure tones in PCM.
package enum ToneAnalysis {
    /// The level of the sine wave at `frequency` in dBFS (a full-scale sine is 0), by Goertzel's filter over a Hann
    /// window.
    package static func level(of frequency: Double, in samples: ArraySlice<Float>, sampleRate: Int) -> Double {
        let count = samples.count
        guard count > 1 else { return -.infinity }
        let coefficient = 2 * cos(2 * .pi * frequency / Double(sampleRate))
        let step = 2 * Double.pi / Double(count)
        var (s1, s2) = (0.0, 0.0)
        samples.withUnsafeBufferPointer { buffer in
            let samples = buffer.baseAddress!
            var i = 0
            while i < count {
                let window = 0.5 - 0.5 * cos(step * Double(i))
                let s0 = Double(samples[i]) * window + coefficient * s1 - s2
                s2 = s1
                s1 = s0
                i += 1
            }
        }
        // A Hann window halves the amplitude, and a real sine has half of its amplitude at each of two frequencies.
        let power = max(0, s1 * s1 + s2 * s2 - coefficient * s1 * s2)
        return 20 * log10(max(1e-9, 4 * power.squareRoot() / Double(count)))
    }

    /// Root mean square in dB relative to a full-scale sine's.
    package static func rms(_ samples: ArraySlice<Float>) -> Double {
        guard !samples.isEmpty else { return -.infinity }
        let mean = samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
        return 10 * log10(max(1e-12, 2 * mean))
    }

    /// The frequency in `range` at which a sine is loudest, to `step` Hz.
    package static func pitch(
        in samples: ArraySlice<Float>, sampleRate: Int, range: ClosedRange<Double>, step: Double = 1
    ) -> Double {
        stride(from: range.lowerBound, through: range.upperBound, by: step).max {
            level(of: $0, in: samples, sampleRate: sampleRate) < level(of: $1, in: samples, sampleRate: sampleRate)
        } ?? .nan
    }

    /// Index of the first sample that is louder than `threshold` (0 to 1).
    package static func onset(in samples: ArraySlice<Float>, above threshold: Float) -> Int? {
        samples.firstIndex { abs($0) > threshold }
    }
}
