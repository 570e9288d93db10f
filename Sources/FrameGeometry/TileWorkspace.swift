/// What `YUVPlaneScaler` works on beside its strip: one for all planes of a frame.
///
/// A tile is a run of a strip's columns that have become rows, narrow enough for the first-level cache as a rule.
final class TileWorkspace {
    /// Rows of a strip, and samples in a row of a tile.
    static let width = 64
    /// Most samples of the scaled line that are made of one tile.
    static let greatestOutputs = 64
    /// Most rows that `tree` adds up at once.
    static let batch = 16
    private static let usualRows = 256
    /// Turning works on 16 columns at a time.
    private static let turnedAtOnce = 16

    private(set) var turned = GrowingBuffer<UInt8>()
    private(set) var scaled = GrowingBuffer<UInt8>()
    let tree = BlendTree()

    /// How many samples of a scaled line are made of one tile, and the rows that the tile has for them.
    static func tile(for table: ResamplingTable) -> (outputs: Int, rows: Int) {
        var outputs = greatestOutputs
        while outputs > 1, rows(outputs, table) > usualRows { outputs /= 2 }
        return (outputs, rows(outputs, table))
    }

    /// Rows for so many outputs in a row, wherever they begin.
    private static func rows(_ outputs: Int, _ table: ResamplingTable) -> Int {
        let needed = (outputs - 1) * table.from / max(1, table.to) + 1 + table.greatestCount
        return (needed + turnedAtOnce - 1) / turnedAtOnce * turnedAtOnce
    }

    /// - Parameter greatestCount: samples that one is made of at most.
    static func memoryBytes(greatestCount: Int) -> Int {
        width * (max(usualRows, greatestCount + 2 * turnedAtOnce) + greatestOutputs)
            + BlendTree.memoryBytes(greatestCount: greatestCount, rowBytes: batch * width)
    }

    func reserve(for columns: ResamplingTable) {
        turned.reserve(Self.width * Self.tile(for: columns).rows)
        scaled.reserve(Self.width * Self.greatestOutputs)
        tree.reserve(greatestCount: columns.greatestCount, rowBytes: Self.batch * Self.width)
    }
}
