internal import IngestProtocol
internal import LinuxSystem

/// A frame that is filled in the memory that it is sent from. If the daemon offers to read that memory, nothing is
/// copied.
///
/// `CaptureConnection.frame(_:)` makes one. Fill it, and pass it to `CaptureConnection.send`. A frame that is never
/// sent is given back when it is deinitialized. Hold only one at a time: there is room for three pictures, of which the
/// daemon reads one. For one thread at a time.
public final class CaptureFrame {
    public private(set) var format: CaptureVideoFormat
    private(set) var memory: Memory
    private let pool: FramePool
    var isSent = false

    enum Memory {
        case shared(FramePool.Place)
        /// The daemon takes no shared memory, or reads all there is: the frame goes through the socket.
        case own(FrameBuffer)
    }

    init(_ format: CaptureVideoFormat, _ memory: Memory, _ pool: FramePool) {
        self.format = format
        self.memory = memory
        self.pool = pool
    }

    deinit {
        switch memory {
        case .shared(let place): if !isSent { pool.giveBack(place) }
        case .own(let buffer): pool.keep(buffer)
        }
    }

    /// Gives the memory back: nothing of the frame was sent, or will be.
    func settle() {
        guard case .shared(let place) = memory, !isSent else { return }
        pool.giveBack(place)
        isSent = true
    }

    /// Whether it holds no picture any more, so that it can be reused.
    package var isDone: Bool { if case .shared = memory { isSent } else { false } }

    /// Makes a new frame of one that is done.
    func become(_ format: CaptureVideoFormat, _ place: FramePool.Place) {
        (self.format, memory, isSent) = (format, .shared(place), false)
    }

    func isOf(_ pool: FramePool) -> Bool { self.pool === pool }

    /// All `format.payloadBytes` bytes, valid as long as this object lives. Write to them only before the frame is
    /// sent. At first, they may have any content.
    @unsafe public var bytes: UnsafeMutableRawBufferPointer {
        switch memory {
        case .shared(let place): unsafe place.bytes
        case .own(let buffer): unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<format.payloadBytes])
        }
    }

    /// Where another process, which writes the frame, has mapped it; nil if the caller has to fill it.
    package var writerPlace: (memory: UInt32, offset: Int)? {
        guard case .shared(let place) = memory, let mapping = place.mapping else { return nil }
        return (mapping.memory, Int(place.shared.offset))
    }

    /// Lets `body` fill all `format.payloadBytes` bytes.
    public func fill<Failure: Error>(_ body: (inout MutableRawSpan) throws(Failure) -> Void) throws(Failure) {
        let bytes = unsafe self.bytes
        var span = unsafe bytes.mutableBytes
        try body(&span)
    }
}

/// Memory of this process for a frame, used again and again.
@safe final class FrameBuffer: @unchecked Sendable /* one frame has it at a time */ {
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) { unsafe bytes = .allocate(byteCount: byteCount, alignment: 64) }
    deinit { unsafe bytes.deallocate() }
}
