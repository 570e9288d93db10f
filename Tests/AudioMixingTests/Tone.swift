import Foundation

/// A sine wave, made and measured.
struct Tone {
    var frequency: Double
    /// Peak, linear.
    var level: Double

    /// `count` samples from sample `start` of an endless tone.
    func samples(from start: Int = 0, count: Int, rate: Int) -> [Float] {
        let step = 2 * Double.pi * frequency / Double(rate)
        return (0..<count).map { Float(level * sin(step * Double(start + $0))) }
    }

    struct Measurement {
        /// Peak level of the tone alone.
        var level: Double
        /// RMS of everything else, relative to the tone's RMS.
        var impurity: Double
        /// From the zero crossings; nothing is assumed about it.
        var frequency: Double
        var decibels: Double { 20 * log10(level) }
    }

    /// Fits a sine of `frequency` by least squares and looks at what is left.
    static func measure(_ samples: ArraySlice<Float>, frequency: Double, rate: Int) -> Measurement {
        let step = 2 * Double.pi * frequency / Double(rate)
        // A whole number of periods, so that sine, cosine and a constant are orthogonal.
        let periods = (Double(samples.count) * frequency / Double(rate)).rounded(.down)
        let count = Int((periods * Double(rate) / frequency).rounded())
        var inPhase = 0.0, quadrature = 0.0, energy = 0.0
        for index in 0..<count {
            let x = Double(samples[samples.startIndex + index])
            inPhase += x * sin(step * Double(index))
            quadrature += x * cos(step * Double(index))
            energy += x * x
        }
        let level = 2 * (inPhase * inPhase + quadrature * quadrature).squareRoot() / Double(count)
        let rest = max(0, energy / Double(count) - level * level / 2)
        var crossings: [Double] = []
        for index in 1..<count {
            let (a, b) = (Double(samples[samples.startIndex + index - 1]), Double(samples[samples.startIndex + index]))
            if a < 0, b >= 0 { crossings.append(Double(index - 1) + a / (a - b)) }
        }
        let measured =
            crossings.count < 2
            ? 0 : Double(crossings.count - 1) * Double(rate) / (crossings[crossings.count - 1] - crossings[0])
        return Measurement(
            level: level, impurity: level > 0 ? (rest / (level * level / 2)).squareRoot() : .infinity,
            frequency: measured)
    }
}
