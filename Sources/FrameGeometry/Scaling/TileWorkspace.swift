/// The memory that `YUVPlaneScaler` needs besides its strip. Shared by all planes of a frame.
///
/// A tile is a run of a strip's columns that have become rows. It usually fits into the first-level cache.
final class TileWorkspace {
    /// The rows of a strip, and the samples in a row of a tile.
    static let width = 64
    /// The maximum number of output samples from one tile.
    static let greatestOutputs = 64
    /// The maximum number of rows that `tree` adds up at once.
    static let batch = 16
    private static let usualRows = 256
    /// Turning works on 16 columns at a time.
    private static let turnedAtOnce = 16

    private(set) var turned = GrowingBuffer<UInt8>()
    private(set) var scaled = GrowingBuffer<UInt8>()
    let tree = BlendTree()

    /// The number of output samples from one tile, and the number of the tile's rows that they need.
    static func tile(for table: AreaTable) -> (outputs: Int, rows: Int) {
        var outputs = greatestOutputs
        while outputs > 1, rows(outputs, table) > usualRows { outputs /= 2 }
        return (outputs, rows(outputs, table))
    }

    /// The rows that a number of consecutive outputs needs, wherever they begin.
    private static func rows(_ outputs: Int, _ table: AreaTable) -> Int {
        let needed = (outputs - 1) * table.from / max(1, table.to) + 1 + table.greatestCount
        return (needed + turnedAtOnce - 1) / turnedAtOnce * turnedAtOnce
    }

    /// - Parameter greatestCount: the maximum number of source samples for one sample.
    static func memoryBytes(greatestCount: Int) -> Int {
        width * (max(usualRows, greatestCount + 2 * turnedAtOnce) + greatestOutputs)
            + BlendTree.memoryBytes(greatestCount: greatestCount, rowBytes: batch * width)
    }

    func reserve(for columns: AreaTable) {
        turned.reserve(Self.width * Self.tile(for: columns).rows)
        scaled.reserve(Self.width * Self.greatestOutputs)
        tree.reserve(greatestCount: columns.greatestCount, rowBytes: Self.batch * Self.width)
    }
}
