/// Planar float storage of fixed size, initialised to zero. All audio memory is allocated here.
@safe package struct FloatPlanes: ~Copyable /* every use of a plane's pointer is marked where it happens */ {
    private let storage: UnsafeMutablePointer<Float>
    package let channels: Int
    /// In frames.
    package let capacity: Int

    package init(channels: Int, capacity: Int) {
        self.channels = channels
        self.capacity = capacity
        unsafe storage = .allocate(capacity: channels * capacity)
        unsafe storage.initialize(repeating: 0, count: channels * capacity)
    }

    deinit { unsafe storage.deallocate() }

    /// The samples of one channel.
    package subscript(channel: Int) -> UnsafeMutablePointer<Float> {
        precondition(channel >= 0 && channel < channels)
        return unsafe storage + channel * capacity
    }

    static func memoryBytes(channels: Int, capacity: Int) -> Int {
        channels * capacity * MemoryLayout<Float>.stride
    }
}
