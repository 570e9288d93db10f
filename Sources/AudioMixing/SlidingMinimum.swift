/// The minimum of the last `window` values. Holds a queue of the values that can still become the minimum, in ascending
/// order.
struct SlidingMinimum: ~Copyable {
    private let values: FloatPlanes
    private var pushed: [Int]
    private var first = 0
    private var count = 0
    private var index = 0

    init(window: Int) {
        values = FloatPlanes(channels: 1, capacity: window)
        pushed = Array(repeating: 0, count: window)
    }

    static func memoryBytes(window: Int) -> Int {
        FloatPlanes.memoryBytes(channels: 1, capacity: window) + window * MemoryLayout<Int>.stride
    }

    /// 1 for an empty window.
    var minimum: Float { count == 0 ? 1 : unsafe values[0][first] }

    mutating func push(_ value: Float) {
        let window = values.capacity
        if count > 0, pushed[first] <= index - window {
            first = first + 1 == window ? 0 : first + 1
            count -= 1
        }
        while count > 0, unsafe values[0][(first + count - 1) % window] >= value { count -= 1 }
        let slot = (first + count) % window
        unsafe values[0][slot] = value
        pushed[slot] = index
        count += 1
        index += 1
    }

    mutating func removeAll() { count = 0 }
}
