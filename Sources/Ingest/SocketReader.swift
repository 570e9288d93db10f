internal import CLinux
internal import Glibc
internal import LinuxSystem

/// The result of one read from a non-blocking socket.
enum ReadOutcome: Equatable {
    case bytes(Int)
    case wouldBlock
    /// The peer closed the connection, or the connection failed.
    case ended
}

/// Receives bytes and descriptors from a socket. It receives all descriptors: the kernel would close the others in the
/// reading thread, and closing can block.
@safe struct SocketReader {
    private let descriptors = UnsafeMutableBufferPointer<CInt>.allocate(capacity: Int(UPCAST_MAX_DESCRIPTORS))

    /// Makes the socket deliver out-of-band bytes inline, together with their descriptors.
    init(_ socket: CInt) {
        var on: CInt = 1
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    func deallocate() { unsafe descriptors.deallocate() }

    /// Receives up to `buffer.count` bytes without blocking.
    ///
    /// - Parameter take: receives each descriptor and its ownership.
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

    /// Whether the peer has closed the connection, and everything that it has sent was read.
    static func isOver(_ socket: CInt) -> Bool {
        while true {
            var byte: UInt8 = 0
            let count = unsafe recv(socket, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
            if count >= 0 { return count == 0 }
            if errno != EINTR { return errno != EAGAIN }
        }
    }
}
