internal import Glibc
internal import LinuxSystem

/// What one attempt to read from a non-blocking socket came to.
enum ReadOutcome: Equatable {
    case bytes(Int)
    case wouldBlock
    /// The peer closed, or the connection broke.
    case ended
}

/// Receives up to `buffer.count` bytes without blocking.
func receive(from socket: CInt, into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
    while true {
        let count = unsafe recv(socket, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .wouldBlock
        default: return .ended
        }
    }
}
