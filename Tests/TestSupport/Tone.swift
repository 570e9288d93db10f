import Foundation

/// A sine wave that continues without a break from one block to the next.
package struct Tone: Sendable {
    package let frequency: Double
    /// The peak; full scale is 1.
    package let amplitude: Double

    package init(frequency: Double, amplitude: Double) {
        self.frequency = frequency
        self.amplitude = amplitude
    }

    /// The peak level as `ToneAnalysis` measures it.
    package var decibels: Double { 20 * log10(amplitude) }

    /// Samples `first` up to `first + count` at `rate` samples a second.
    package func samples(from first: Int = 0, count: Int, rate: Int) -> [Float] {
        let step = 2 * Double.pi * frequency / Double(rate)
        return (first..<first + count).map { Float(amplitude * sin(step * Double($0))) }
    }
}
