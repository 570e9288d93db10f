internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// A connection to a control server, on a Unix socket or TCP. Every wait ends at a deadline.
struct ControlConnection: ~Copyable {
    private let socket: OwnedDescriptor
    private let address: ControlAddress
    static let clock = MonotonicClock()

    /// For `poll`, together with other descriptors.
    var raw: CInt { socket.raw }

    init(_ address: ControlAddress, deadline: MediaTime) throws(ControlClientError) {
        self.address = address
        switch address {
        case .unix(let path):
            do {
                // A daemon that hangs accepts no connections. If its backlog is full, connecting would take forever.
                socket = try UnixSocket.connect(path: path, timeout: deadline - Self.clock.now())
            } catch {
                throw Self.failure(error, path)
            }
        case .tcp(let host, let port, _):
            socket = try TCPSocket.connect(host: host, port: port, deadline: deadline)
        }
        _ = fcntl(socket.raw, F_SETFL, fcntl(socket.raw, F_GETFL) | O_NONBLOCK)
    }

    /// Sends as much as possible before the deadline. A failure is no error yet, because a server with too many
    /// connections answers before it reads.
    func send(_ bytes: [UInt8], deadline: MediaTime) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(socket.raw, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                let error = Errno.current
                guard error.code == EINTR || (error.code == EAGAIN && wait(POLLOUT, until: deadline)) else { return }
            }
        }
    }

    /// The bytes that have come so far: nil if there are none yet, empty at the end of the connection.
    func receive(into buffer: inout [UInt8]) throws(ControlClientError) -> ArraySlice<UInt8>? {
        while true {
            let count = unsafe recv(socket.raw, &buffer, buffer.count, 0)
            if count >= 0 { return buffer[..<count] }
            let error = Errno.current
            switch error.code {
            case EINTR: continue
            case EAGAIN: return nil
            // The server has answered without reading the whole request.
            case ECONNRESET: return []
            default: throw .unreachable("the daemon at \(address) hung up: \(error)")
            }
        }
    }

    /// Whether there is something to receive before the deadline.
    func waitToReceive(until deadline: MediaTime) -> Bool { wait(POLLIN, until: deadline) }

    private func wait(_ events: CInt, until deadline: MediaTime) -> Bool {
        Self.wait(for: events, of: socket.raw, until: deadline)
    }

    static func wait(for events: CInt, of descriptor: CInt, until deadline: MediaTime) -> Bool {
        while true {
            let left = (deadline - clock.now()).milliseconds
            guard left > 0 else { return false }
            var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            if unsafe poll(&one, 1, CInt(clamping: left)) > 0 { return true }
        }
    }

    private static func failure(_ failure: UnixSocket.Failure, _ path: String) -> ControlClientError {
        let shown = TerminalText.printable(path)
        switch SocketRefusal(failure, path: path) {
        case .missing:
            return .noSocket(
                "\(shown) does not exist: upcastd is not running, or control.socket names another path "
                    + "(give it with --socket or UPCAST_CONTROL_SOCKET)")
        case .nobodyListens: return .nobodyListens("nothing listens at \(shown): upcastd ended without removing it")
        case .notASocket: return .unreachable("\(shown) is no socket: control.socket is another path")
        case .forbidden(let remedy):
            return .unreachable("no permission to use \(shown): \(TerminalText.printable(remedy))")
        case .full:
            return .unreachable("the daemon at \(shown) took no connection in time: it hangs, or has too many")
        case .other: return .unreachable(TerminalText.printable("\(failure)"))
        }
    }
}
