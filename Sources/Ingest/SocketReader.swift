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

/// Receives up to `buffer.count` bytes without blocking, and the descriptor that came with them. Where none is asked
/// for (`receive(from:into:)`), the kernel closes what comes.
func receive(
    from socket: CInt, into buffer: UnsafeMutableRawBufferPointer, descriptor: inout OwnedDescriptor?
) -> ReadOutcome {
    var raw: CInt = -1
    let outcome = outcome {
        unsafe upcast_receive_with_descriptor(socket, buffer.baseAddress, UInt(buffer.count), &raw)
    }
    if raw >= 0 { descriptor = OwnedDescriptor(raw) }
    return outcome
}

/// Receives up to `buffer.count` bytes without blocking.
func receive(from socket: CInt, into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
    outcome { unsafe recv(socket, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT)) }
}

private func outcome(_ receive: () -> Int) -> ReadOutcome {
    while true {
        let count = receive()
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .wouldBlock
        default: return .ended
        }
    }
}
