internal import CLinux

/// Detects new addresses and routes of the machine, which may mean that the network is back. One thread.
///
/// They also change without an outage, so treat a change as a hint.
package final class NetworkWatch: Sendable {
    private let socket: OwnedDescriptor
    package var raw: CInt { socket.raw }

    /// - Throws: if the process cannot open a netlink socket, for example in a sandbox.
    package init() throws(Errno) { socket = try OwnedDescriptor(checking: upcast_network_watch()) }

    /// Whether there was a change since the last call; never blocks.
    package func take() -> Bool { upcast_network_came(socket.raw) != 0 }
}
