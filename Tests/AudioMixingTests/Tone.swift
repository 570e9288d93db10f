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

    /// At a time in seconds.
    func value(at time: Double) -> Float { Float(level * sin(2 * Double.pi * frequency * time)) }

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
        let count = samples.count
        var ss = 0.0, cc = 0.0, sc = 0.0, xs = 0.0, xc = 0.0
        for (index, sample) in samples.enumerated() {
            let (s, c, x) = (sin(step * Double(index)), cos(step * Double(index)), Double(sample))
            ss += s * s; cc += c * c; sc += s * c; xs += x * s; xc += x * c
        }
        let determinant = ss * cc - sc * sc
        let (a, b) = ((xs * cc - xc * sc) / determinant, (xc * ss - xs * sc) / determinant)
        let level = (a * a + b * b).squareRoot()
        var rest = 0.0
        for (index, sample) in samples.enumerated() {
            let left = Double(sample) - a * sin(step * Double(index)) - b * cos(step * Double(index))
            rest += left * left / Double(count)
        }
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
