import CLinux
import Glibc
import LinuxSystem

/// The proxy's port: open, closed, or deaf.
final class ProxyListener {
    private(set) var port: UInt16
    private var descriptor: OwnedDescriptor?
    /// To poll for connections; -1 where none can come.
    private(set) var raw: CInt = -1
    /// Our own connections that keep the kernel's queue full, so that it drops SYNs.
    private var fillers: [CInt] = []

    init(port: UInt16) throws(Errno) {
        self.port = port
        try open()
    }
    deinit { closeFillers() }

    /// Takes connections again.
    func open() throws(Errno) {
        guard raw < 0 else { return }
        closeFillers()
        descriptor = nil
        let listening = try LoopbackSocket.listen(port: &port, backlog: 64)
        raw = listening.raw
        descriptor = consume listening
    }

    /// Refuses connections.
    func close() {
        raw = -1
        closeFillers()
        descriptor = nil
    }

    /// Answers no SYN.
    func deafen() throws(Errno) {
        close()
        descriptor = try LoopbackSocket.listen(port: &port, backlog: 0)
        for _ in 0..<4 { fillers.append(try LoopbackSocket.connect(to: port).relinquish()) }
    }

    /// The next waiting connection.
    func accept() throws(Errno) -> OwnedDescriptor? {
        let accepted = upcast_accept4(raw)
        if accepted >= 0 { return OwnedDescriptor(accepted) }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw Errno.current
        }
    }

    private func closeFillers() {
        for filler in fillers { _ = OwnedDescriptor(filler) }
        fillers = []
    }
}
