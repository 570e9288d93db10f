internal import CLinux

/// The process that listened at the other end of a Unix socket when the connection was made (pidfd_open(2)).
///
/// It stays that process even if the kernel reuses its number. If another process serves the listener, this is still
/// the last caller of listen(2), and its end says nothing about the other one.
package struct PeerProcess: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// For `poll`: readable after the end of the process. Its descriptors are closed by then.
    package var raw: CInt { descriptor.raw }

    /// Nil if the kernel does not know the process, or the process has ended.
    package init?(socket: CInt) {
        let raw = upcast_peer_process(socket)
        guard raw >= 0 else { return nil }
        descriptor = OwnedDescriptor(raw)
    }
}
