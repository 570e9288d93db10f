/// Values over time as a row of blocks of eight heights.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")

    /// One cell for each value: a space where there is none, the lowest block from zero on, the highest from `top` on.
    static func text(_ values: [Double?], top: Double) -> String {
        String(
            values.map { value -> Character in
                guard let value, value.isFinite else { return " " }
                guard top > 0, value > 0 else { return blocks[0] }
                return blocks[Int(min(1, value / top) * Double(blocks.count - 1) + 0.5)]
            })
    }
}
