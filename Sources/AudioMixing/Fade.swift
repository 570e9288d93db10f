/// A fade of five milliseconds between silence and sound. The slope of its curve is zero at both ends.
struct Fade: Sendable {
    private let total: Int
    /// The remaining frames.
    private(set) var left: Int

    init(rate: Int) {
        total = rate / 200
        left = total
    }

    /// The gain of the frame `index` frames ahead, from 0 to 1.
    func rising(_ index: Int) -> Float {
        let step = total - left + index
        guard step < total else { return 1 }
        let x = Float(step) / Float(total)
        return x * x * (3 - 2 * x)
    }

    /// The gain of the frame `index` frames ahead, from 1 to 0.
    func falling(_ index: Int) -> Float { 1 - rising(index) }

    mutating func advance(_ frames: Int) { left = max(0, left - frames) }
}
