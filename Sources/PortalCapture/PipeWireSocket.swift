internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Tells whether PipeWire runs for this user. The portal opens the connection itself. But if PipeWire has gone, a
/// desktop fails only after it has used up the stored permission. Any thread.
package final class PipeWireSocket: Sendable, Equatable {
    private let path: String?
    private let wasThere = Monitor(false)

    /// - Parameters:
    ///   - folder: `$PIPEWIRE_RUNTIME_DIR`, or else `$XDG_RUNTIME_DIR`.
    ///   - remote: `$PIPEWIRE_REMOTE`.
    package init(folder: String?, remote: String?) {
        let name = remote ?? "pipewire-0"
        path = name.hasPrefix("/") ? name : folder.map { "\($0)/\(name)" }
    }

    package static func == (a: PipeWireSocket, b: PipeWireSocket) -> Bool { a.path == b.path }

    /// Whether the socket can be reached; nil if its path is unknown. A program in a sandbox may not see the socket.
    var isThere: Bool? {
        guard let path else { return nil }
        let isThere = (try? UnixSocket.connect(path: path, timeout: .seconds(1))) != nil
        if isThere { wasThere.withLock { $0 = true } }
        return isThere
    }

    /// Whether PipeWire was there before, and is not there now.
    var isGone: Bool { isThere == false && wasThere.withLock { $0 } }
}
