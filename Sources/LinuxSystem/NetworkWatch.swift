internal import CLinux

/// Notices that the machine has got an address or a route: its network may have come back. One thread.
///
/// Addresses and routes also change without the network having been away; a listener takes it as a hint.
package final class NetworkWatch: Sendable {
    private let socket: OwnedDescriptor
    package var raw: CInt { socket.raw }

    /// - Throws: where the process may not have a netlink socket (a sandbox).
    package init() throws(Errno) { socket = try OwnedDescriptor(checking: upcast_network_watch()) }

    /// Whether one has come since the last call; never blocks.
    package func take() -> Bool { upcast_network_came(socket.raw) != 0 }
}
