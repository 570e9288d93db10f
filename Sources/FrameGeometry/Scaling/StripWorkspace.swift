internal import CPlanes

/// A strip whose rows have become columns, before and after scaling. Shared by all planes of a frame.
final class StripWorkspace {
    private(set) var turned = GrowingBuffer<UInt8>()
    private(set) var scaled = GrowingBuffer<UInt8>()

    /// Rounded up to whole strips.
    static func wholeStrips(_ width: Int) -> Int {
        (width + upcast_strip_width - 1) / upcast_strip_width * upcast_strip_width
    }

    static func memoryBytes(from: PlaneSize, to: PlaneSize) -> Int {
        upcast_strip_width * (wholeStrips(from.width) + 1 + wholeStrips(to.width))
    }

    func reserve(from: PlaneSize, to: PlaneSize) {
        // `upcast_filter_strip` reads one row more.
        turned.reserve(upcast_strip_width * (Self.wholeStrips(from.width) + 1))
        scaled.reserve(upcast_strip_width * Self.wholeStrips(to.width))
    }
}

/// Memory aligned to a cache line. It is replaced by zeroed memory if more is needed.
@safe struct GrowingBuffer<Element: BitwiseCopyable & FixedWidthInteger>: ~Copyable {
    private var memory: UnsafeMutablePointer<Element>?
    private var count = 0

    init() { unsafe memory = nil }

    deinit { unsafe memory?.deallocate() }

    var start: UnsafeMutablePointer<Element> { unsafe memory! }

    mutating func reserve(_ needed: Int) {
        guard needed > count else { return }
        unsafe memory?.deallocate()
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: needed * MemoryLayout<Element>.stride, alignment: 64)
        unsafe memory = bytes.bindMemory(to: Element.self, capacity: needed)
        unsafe start.initialize(repeating: 0, count: needed)
        count = needed
    }
}
