internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Tells whether a Wayland compositor has ended, by a connection on which neither side sends anything.
package final class CompositorPresence: Sendable {
    private let socket: OwnedDescriptor

    /// - Parameter name: the name of the compositor's socket in `folder`, or its path.
    /// - Returns: nil if the compositor cannot be reached.
    package init?(_ name: String, folder: String?) {
        let path = name.hasPrefix("/") ? name : "\(folder ?? "")/\(name)"
        guard let socket = try? UnixSocket.connect(path: path, timeout: .seconds(1)) else { return nil }
        self.socket = socket
    }

    package var hasEnded: Bool {
        var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) > 0
    }

    /// For `poll`: any event means that the compositor has ended.
    package var descriptor: CInt { socket.raw }
}
