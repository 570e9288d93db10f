import Glibc

/// Asks a control socket as another user, for tests.
///
///     control-crowd SOCKET UID half       holds eight half-sent requests open, and begins anew when one is closed
///     control-crowd SOCKET UID connect    connects and closes without end
///     control-crowd SOCKET UID raise N    raises the curtain N times with connects that do not wait, and prints how
///                                         many were answered with 200
@main
enum ControlCrowdMain {
    static func main() {
        let arguments = CommandLine.arguments
        let (path, user, mode) = (arguments[1], uid_t(arguments[2])!, arguments[3])
        signal(SIGPIPE, SIG_IGN)
        guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else { return fail("setuid") }
        // The change of user has ended the kernel's promise that this process does not outlive its parent.
        let parent = getppid()
        alarm(120)
        switch mode {
        case "half": holdHalf(path) { getppid() == parent }
        case "connect": while getppid() == parent { close(connected(path, SOCK_STREAM.rawValue)) }
        default: raise(path, Int(arguments[4])!)
        }
    }

    private static func fail(_ what: String) {
        print("\(what): \(String(cString: strerror(errno)))")
        exit(1)
    }

    /// A connected socket; below zero with `errno`.
    private static func connected(_ path: String, _ kind: __socket_type.RawValue) -> CInt {
        let socket = socket(AF_UNIX, CInt(kind | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let why = errno
            close(socket)
            errno = why
            return -1
        }
        return socket
    }

    /// Has eight half-sent requests open at any time, for as long as `goesOn`.
    private static func holdHalf(_ path: String, while goesOn: () -> Bool) {
        let half = Array("POST /curtain/up HTTP/1.1\r\nHost: u".utf8)
        var held = [pollfd](repeating: pollfd(fd: -1, events: Int16(POLLIN), revents: 0), count: 8)
        while goesOn() {
            for index in held.indices where held[index].fd < 0 || held[index].revents != 0 {
                if held[index].fd >= 0 { close(held[index].fd) }
                held[index].fd = connected(path, SOCK_STREAM.rawValue)
                _ = write(held[index].fd, half, half.count)
            }
            poll(&held, nfds_t(held.count), 1000)
        }
    }

    @discardableResult
    private static func readAll(_ socket: CInt) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    private static func raise(_ path: String, _ count: Int) {
        let body = "{\"app\":\"kiosk\"}"
        let request = Array(
            "POST /curtain/up HTTP/1.1\r\nHost: u\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        var outcomes: [String: Int] = [:]
        for _ in 0..<count {
            let socket = connected(path, SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
            guard socket >= 0 else {
                outcomes["connect: \(String(cString: strerror(errno)))", default: 0] += 1
                continue
            }
            // Only the connect is not to wait.
            _ = fcntl(socket, F_SETFL, 0)
            _ = write(socket, request, request.count)
            let status = String(decoding: readAll(socket).prefix(12), as: UTF8.self)
            outcomes[status, default: 0] += 1
            close(socket)
        }
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) { print("\(count) \(outcome)") }
    }
}
