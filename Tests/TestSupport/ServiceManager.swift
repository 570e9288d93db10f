import Foundation
import LinuxSystem

/// The part of a service manager that receives a service's notifications (sd_notify(3)): a datagram socket with an
/// abstract name.
package final class ServiceManager: Sendable {
    private let descriptor: OwnedDescriptor
    private let name: String
    private let heard = Monitor<[String]>([])

    package init() throws {
        name = "@upcast-test-\(UUID().uuidString)"
        descriptor = try OwnedDescriptor(
            checking: socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = [0] + Array(name.utf8.dropFirst())
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.raw, $0, socklen_t(2 + bytes.count))
            }
        }
        guard result == 0 else { throw Errno.current }
    }

    /// The variables for the environment of the service.
    package var environment: [String: String] { ["NOTIFY_SOCKET": name] }

    /// Every assignment so far, such as READY=1, in order.
    package var news: [String] {
        var bytes = [UInt8](repeating: 0, count: 8192)
        return heard.withLock { heard in
            while true {
                let count = recv(descriptor.raw, &bytes, bytes.count, CInt(MSG_DONTWAIT))
                guard count > 0 else { return heard }
                heard += String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
    }

    /// How often an assignment was received.
    package func count(_ assignment: String) -> Int { news.count { $0 == assignment } }
}

/// The part that creates sockets and passes them on (sd_listen_fds(3)).
enum SocketActivation {
    /// A command that listens at `path` and becomes `executable`, with that socket under the name capture.
    static func command(
        _ path: String, _ executable: String, _ arguments: [String]
    ) -> (executable: String, arguments: [String]) {
        let program = """
            import os, socket, sys
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(sys.argv[1])
            os.chmod(sys.argv[1], 0o640)
            listener.listen(8)
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="capture")
            os.execv(sys.argv[2], sys.argv[2:])
            """
        return ("python3", ["-c", program, path, executable] + arguments)
    }
}
