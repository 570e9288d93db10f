/// Values over time as a row of blocks of eight heights.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")

    /// One cell for each value: a space for nil, the lowest block for zero, the highest for `top` and above.
    static func text(_ values: [Double?], top: Double) -> String {
        String(
            values.map { value -> Character in
                guard let value, value.isFinite else { return " " }
                guard top > 0, value > 0 else { return blocks[0] }
                return blocks[Int(min(1, value / top) * Double(blocks.count - 1) + 0.5)]
            })
    }
}
