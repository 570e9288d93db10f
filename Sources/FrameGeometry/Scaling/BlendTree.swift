internal import CLibYUV

/// Weighted sums of rows, built from libyuv's weighted mean of two rows.
///
/// Rows are joined in pairs, then pairs of pairs, and so on. A sum of n rows is therefore rounded log2(n) times, and no
/// small weight is lost beside a large sum. A sum of two rows has exactly the weights of `AreaTable`. If all rows
/// are available, `sum` computes the result at once, and several results with the same weights together. Rows that
/// arrive one after another are added with `add`.
///
/// Owns memory for the intermediate sums. An added row must stay valid until the next `keep`.
@safe final class BlendTree {
    @unsafe private struct Entry {
        /// The first row; in `memory` if `slot` is not -1.
        var rows: UnsafePointer<UInt8>
        var stride: Int
        var weight: Int
        /// The level in the tree: the entry joins 2 to the power of `level` rows, or fewer at the end.
        var level: Int
        /// The place in `memory`; -1 for the caller's rows.
        var slot = -1
    }

    /// Places for intermediate sums.
    @unsafe struct Room {
        fileprivate var start: UnsafeMutablePointer<UInt8>
        fileprivate var slotBytes: Int

        fileprivate func place(_ slot: Int) -> UnsafeMutablePointer<UInt8> { unsafe start + slot * slotBytes }
    }

    private var memory = GrowingBuffer<UInt8>()
    private var entries = unsafe [Entry]()
    private var slotBytes = 0
    private var freeSlots: UInt32 = .max

    private static func slots(_ greatestCount: Int) -> Int {
        Int.bitWidth - max(0, greatestCount - 1).leadingZeroBitCount + 2
    }

    static func memoryBytes(greatestCount: Int, rowBytes: Int) -> Int { slots(greatestCount) * rowBytes }

    init() { unsafe entries.reserveCapacity(Int.bitWidth) }

    /// Prepares for sums of at most `greatestCount` rows. A row has at most `rowBytes` bytes, added up over the sums
    /// that are computed together; in that case each row is at most as wide as a tile.
    func reserve(greatestCount: Int, rowBytes: Int) {
        forget()
        slotBytes = max(slotBytes, rowBytes)
        memory.reserve(Self.slots(greatestCount) * slotBytes)
    }

    /// Drops all added rows.
    func forget() {
        unsafe entries.removeAll(keepingCapacity: true)
        freeSlots = .max
    }

    /// Available rows at equal distances.
    @unsafe struct Rows {
        var first: UnsafePointer<UInt8>
        /// The distance from one row of a sum to the next.
        var step: Int
        var width: Int
        /// The number of sums with the same weights, and the distance between their first rows.
        var count = 1
        var distance = 0
    }

    /// Stores sums whose rows are all available. No row may have been added to the tree that owns `room`.
    static func sum(
        _ rows: Rows, weights: UnsafePointer<UInt16>, taps: Int, into out: UnsafeMutablePointer<UInt8>, stride: Int,
        in room: Room
    ) {
        if taps == 1 {
            return unsafe CopyPlane(
                rows.first, CInt(rows.distance), out, CInt(stride), CInt(rows.width), CInt(rows.count))
        }
        var free = UInt32.max
        let half = half(taps)
        let first = unsafe part(rows, 0, weights, half, room, &free)
        let second = unsafe part(rows, half, weights, taps - half, room, &free)
        unsafe mean(
            first, second, share(second.weight, of: first.weight + second.weight), out, stride, rows.width,
            rows.count)
    }

    /// The sum of `taps` rows, starting at `index`.
    private static func part(
        _ rows: Rows, _ index: Int, _ weights: UnsafePointer<UInt16>, _ taps: Int, _ room: Room, _ free: inout UInt32
    ) -> Entry {
        if taps == 1 {
            return unsafe Entry(
                rows: rows.first + index * rows.step, stride: rows.distance, weight: Int(weights[index]), level: 0)
        }
        let half = half(taps)
        let first = unsafe part(rows, index, weights, half, room, &free)
        let second = unsafe part(rows, index + half, weights, taps - half, room, &free)
        return unsafe joined(first, second, rows.width, rows.count, room, &free)
    }

    /// The largest power of two below `taps`.
    private static func half(_ taps: Int) -> Int { 1 << (Int.bitWidth - 1 - (taps - 1).leadingZeroBitCount) }

    /// Adds a row of `width` samples.
    func add(_ row: UnsafePointer<UInt8>, weight: Int, width: Int) {
        while let (first, second) = unsafe lastTwo, unsafe first.level == second.level { join(width) }
        unsafe entries.append(Entry(rows: row, stride: 0, weight: weight, level: 0))
    }

    /// Copies the caller's rows that are still needed.
    func keep(width: Int) {
        for index in unsafe entries.indices where unsafe entries[index].slot < 0 {
            let slot = Self.take(&freeSlots)
            let copy = unsafe room.place(slot)
            unsafe copy.update(from: entries[index].rows, count: width)
            unsafe (entries[index].rows, entries[index].slot) = (UnsafePointer(copy), slot)
        }
    }

    /// Stores the sum, and clears the tree for the next one.
    func finish(into out: UnsafeMutablePointer<UInt8>, width: Int) {
        while unsafe entries.count > 2 { join(width) }
        if let (first, second) = unsafe lastTwo {
            let share = unsafe Self.share(second.weight, of: first.weight + second.weight)
            unsafe Self.mean(first, second, share, out, 0, width, 1)
        } else if let only = unsafe entries.last {
            unsafe Self.copy(only, out, 0, width, 1)
        }
        forget()
    }

    private var lastTwo: (Entry, Entry)? {
        unsafe entries.count > 1 ? (entries[entries.count - 2], entries[entries.count - 1]) : nil
    }

    /// The memory for `sum`; valid until the next `reserve`.
    var room: Room { unsafe Room(start: memory.start, slotBytes: slotBytes) }

    /// Joins the last two entries.
    private func join(_ width: Int) {
        let second = unsafe entries.removeLast()
        let first = unsafe entries.removeLast()
        unsafe entries.append(Self.joined(first, second, width, 1, room, &freeSlots))
    }

    private static func joined(
        _ first: Entry, _ second: Entry, _ width: Int, _ count: Int, _ room: Room, _ free: inout UInt32
    ) -> Entry {
        let weight = unsafe first.weight + second.weight
        var share = unsafe share(second.weight, of: weight)
        // libyuv rounds means of equal parts up. Over many levels that would add brightness; a share of 127 rounds
        // either way.
        if share == 128, unsafe first.level > 0 { share = 127 }
        let slot = take(&free)
        let sum = unsafe room.place(slot)
        let stride = TileWorkspace.width
        unsafe mean(first, second, share, sum, stride, width, count)
        unsafe give(first.slot, &free)
        unsafe give(second.slot, &free)
        return unsafe Entry(
            rows: sum, stride: stride, weight: weight, level: max(first.level, second.level) + 1, slot: slot)
    }

    /// A share in 1/256.
    private static func share(_ part: Int, of whole: Int) -> Int {
        whole == 256 ? part : whole == 0 ? 128 : (256 * part + whole / 2) / whole
    }

    /// - Parameter share: the share of the second entry, in 1/256.
    private static func mean(
        _ first: Entry, _ second: Entry, _ share: Int, _ out: UnsafeMutablePointer<UInt8>, _ stride: Int,
        _ width: Int, _ count: Int
    ) {
        if share >= 256 { return unsafe copy(second, out, stride, width, count) }
        unsafe _ = InterpolatePlane(
            first.rows, CInt(first.stride), second.rows, CInt(second.stride), out, CInt(stride), CInt(width),
            CInt(count), CInt(share))
    }

    private static func copy(
        _ entry: Entry, _ out: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ count: Int
    ) {
        unsafe CopyPlane(entry.rows, CInt(entry.stride), out, CInt(stride), CInt(width), CInt(count))
    }

    private static func take(_ free: inout UInt32) -> Int {
        let slot = free.trailingZeroBitCount
        free &= ~(1 << slot)
        return slot
    }

    private static func give(_ slot: Int, _ free: inout UInt32) {
        if slot >= 0 { free |= 1 << slot }
    }
}
