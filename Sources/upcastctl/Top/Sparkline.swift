/// Values over time as blocks of eight heights.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")

    /// One cell for each value: a space for nil, the lowest block for zero, the highest for `top` and above.
    static func text(_ values: [Double?], top: Double) -> String { rows(values, top: top, height: 1)[0] }

    /// The same, `height` rows tall; the first row is the upper one.
    static func rows(_ values: [Double?], top: Double, height: Int) -> [String] {
        let levels = values.map { level($0, top: top, of: max(1, height) * blocks.count) }
        return (0..<max(1, height)).reversed().map { row in
            String(
                levels.map { level in
                    let filled = min(blocks.count, level - row * blocks.count)
                    return filled > 0 ? blocks[filled - 1] : " "
                })
        }
    }

    /// The level of a value, from 1 to `count`; 0 for nil.
    private static func level(_ value: Double?, top: Double, of count: Int) -> Int {
        guard let value, value.isFinite else { return 0 }
        guard top > 0, value > 0 else { return 1 }
        return Int(min(1, value / top) * Double(count - 1) + 0.5) + 1
    }
}
