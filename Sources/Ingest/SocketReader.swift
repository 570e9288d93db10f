internal import CLinux
internal import Glibc
internal import LinuxSystem

/// What one attempt to read from a non-blocking socket came to.
enum ReadOutcome: Equatable {
    case bytes(Int)
    case wouldBlock
    /// The peer closed, or the connection broke.
    case ended
}

/// Receives from a socket that descriptors may come with. All of them are received, wanted or not: what the kernel has
/// to close, it closes in the thread that reads, and that can wait.
@safe struct SocketReader {
    private let descriptors = UnsafeMutableBufferPointer<CInt>.allocate(capacity: Int(UPCAST_MAX_DESCRIPTORS))

    /// - Parameter socket: one whose out-of-band byte would not come here, with what it carries.
    init(_ socket: CInt) {
        var on: CInt = 1
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    func deallocate() { unsafe descriptors.deallocate() }

    /// Receives up to `buffer.count` bytes without blocking.
    ///
    /// - Parameter take: called with each descriptor that came with them, the taker's from now on.
    func receive(
        from socket: CInt, into buffer: UnsafeMutableRawBufferPointer, take: (CInt) -> Void
    ) -> ReadOutcome {
        while true {
            var found: CInt = 0
            let count = unsafe upcast_receive_with_descriptors(
                socket, buffer.baseAddress, UInt(buffer.count), descriptors.baseAddress, &found)
            let error = errno
            for index in 0..<Int(found) { take(unsafe descriptors[index]) }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            switch error {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .ended
            }
        }
    }
}
