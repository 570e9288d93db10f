internal import CLinux

/// Detects new addresses and routes of the machine: the network may be back. One thread.
///
/// Addresses and routes also change without the network having been away; a listener takes it as a hint.
package final class NetworkWatch: Sendable {
    private let socket: OwnedDescriptor
    package var raw: CInt { socket.raw }

    /// - Throws: if the process cannot open a netlink socket, such as in a sandbox.
    package init() throws(Errno) { socket = try OwnedDescriptor(checking: upcast_network_watch()) }

    /// Whether there was a change since the last call; never blocks.
    package func take() -> Bool { upcast_network_came(socket.raw) != 0 }
}
