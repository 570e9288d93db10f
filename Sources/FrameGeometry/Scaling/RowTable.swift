internal import CPlanes

/// A `BicubicTable` in the layout of `upcast_scale_row`, for rows that are scaled along themselves, in order or
/// mirrored.
struct RowTable: ~Copyable {
    private var starts = GrowingBuffer<Int32>()
    private var shuffles = GrowingBuffer<UInt8>()
    private var weights = GrowingBuffer<Int8>()
    private var to = 0
    /// The number of sample pairs for each sample; unneeded ones have weight zero.
    private var pairs = 0
    /// The number of windows of 16 samples, for eight output samples at once.
    private var windows = 0

    private static let lane = blockWidth / 2
    private static let blockWidth = Int(upcast_row_block_width)
    private static let window = 16
    private static let maxWindows = 2
    private static let maxPairs = (BicubicTable.greatestCount + 1) / 2

    private static func blocks(_ to: Int) -> Int { (to + blockWidth - 1) / blockWidth }

    /// The maximum size of a table in bytes.
    static func memoryBytes(to: Int) -> Int {
        blocks(to) * (maxWindows * (2 * MemoryLayout<Int32>.stride + 2 * blockWidth) + maxPairs * 2 * blockWidth)
    }

    /// False if no table is configured.
    var isUsable: Bool { pairs > 0 }

    /// Allocates only if it needs more memory than ever before.
    ///
    /// - Parameter table: nil if rows are not scaled along themselves, or if the processor has no AVX2.
    mutating func configure(_ table: BicubicTable?, mirrored: Bool) {
        (pairs, windows) = (0, 0)
        guard let table else { return }
        let pairs = (table.greatestCount + 1) / 2
        let taps = mirrored ? table.taps.reversed() : table.taps
        // With two windows, four neighbours of one window begin within 3 * `BicubicTable.greatestRatio` samples.
        let windows = Self.fit(taps, windows: 1) ? 1 : Self.maxWindows
        (to, self.pairs, self.windows) = (taps.count, pairs, windows)
        let blocks = Self.blocks(to)
        starts.reserve(2 * windows * blocks)
        shuffles.reserve(2 * Self.blockWidth * windows * blocks)
        weights.reserve(2 * Self.blockWidth * pairs * blocks)
        for start in 0..<2 * windows * blocks { unsafe starts.start[start] = 0 }
        for place in 0..<2 * Self.blockWidth * windows * blocks { unsafe shuffles.start[place] = 0x80 }
        for place in 0..<2 * Self.blockWidth * pairs * blocks { unsafe weights.start[place] = 0 }
        let perWindow = Self.lane / windows
        for first in stride(from: 0, to: to, by: perWindow) {
            let group = taps[first..<min(first + perWindow, to)]
            let start = Self.start(group)
            let (block, window) = (first / Self.blockWidth, first / perWindow % windows)
            unsafe starts.start[(block * windows + window) * 2 + first % Self.blockWidth / Self.lane] = start
            for (sample, tap) in zip(first..., group) {
                store(tap, table, at: sample, reach: UInt8(tap.first - start), block: block, window: window)
            }
        }
    }

    private func store(
        _ tap: upcast_taps, _ table: BicubicTable, at sample: Int, reach: UInt8, block: Int, window: Int
    ) {
        let place = 2 * (sample % Self.blockWidth)
        let shuffle = unsafe shuffles.start + (block * windows + window) * 2 * Self.blockWidth + place
        let weight = unsafe weights.start + block * pairs * 2 * Self.blockWidth + place
        unsafe (shuffle[0], shuffle[1]) = (reach, reach + 1)
        for index in 0..<Int(tap.count) {
            let value = table.weights[Int(tap.weights) + index]
            unsafe weight[index / 2 * 2 * Self.blockWidth + index % 2] = value
        }
    }

    private static func start(_ taps: ArraySlice<upcast_taps>) -> Int32 { taps.reduce(.max) { min($0, $1.first) } }

    /// Whether all samples of a lane (or of each half of it) begin in one window that also contains the second sample
    /// of the pair.
    private static func fit(_ taps: [upcast_taps], windows: Int) -> Bool {
        stride(from: 0, to: taps.count, by: lane / windows).allSatisfy { first in
            let group = taps[first..<min(first + lane / windows, taps.count)]
            let start = start(group)
            return group.allSatisfy { Int($0.first - start) < window - 1 }
        }
    }

    /// Reads up to 64 bytes after the row's last sample.
    func scale(_ row: UnsafePointer<UInt8>, into out: UnsafeMutablePointer<UInt8>) {
        unsafe upcast_scale_row(
            row, starts.start, shuffles.start, weights.start, CInt(windows), CInt(pairs), out, CInt(to))
    }
}
