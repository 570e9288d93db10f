internal import CLinux

/// The process that listened at the other end of a Unix socket when the connection was made (pidfd_open(2)).
///
/// It stays that process, whatever becomes of its number. Where the listener was made by one process and is served by
/// another, it is the one that has called listen(2) last, and its end says nothing of the other.
package struct PeerProcess: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// For `poll`: readable from the end of the process on, for ever. Its descriptors are closed by then.
    package var raw: CInt { descriptor.raw }

    /// Nil if the kernel does not know the process, or the process has ended.
    package init?(socket: CInt) {
        let raw = upcast_peer_process(socket)
        guard raw >= 0 else { return nil }
        descriptor = OwnedDescriptor(raw)
    }
}
