/// Planar float storage of fixed size, zeroed at the start; the one place where audio memory is allocated.
@safe struct FloatPlanes: ~Copyable /* every use of a plane's pointer is marked where it happens */ {
    private let storage: UnsafeMutablePointer<Float>
    let channels: Int
    /// Frames.
    let capacity: Int

    init(channels: Int, capacity: Int) {
        self.channels = channels
        self.capacity = capacity
        unsafe storage = .allocate(capacity: channels * capacity)
        unsafe storage.initialize(repeating: 0, count: channels * capacity)
    }

    deinit { unsafe storage.deallocate() }

    /// The samples of one channel.
    subscript(channel: Int) -> UnsafeMutablePointer<Float> {
        precondition(channel >= 0 && channel < channels)
        return unsafe storage + channel * capacity
    }

    static func memoryBytes(channels: Int, capacity: Int) -> Int {
        channels * capacity * MemoryLayout<Float>.stride
    }
}
