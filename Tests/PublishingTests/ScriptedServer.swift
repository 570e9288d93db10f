import FLV
import Glibc
import LinuxSystem
@testable import Publishing
import TestSupport
import Testing

/// A server on loopback that runs a test's script for one client after the other, up to a number of clients.
final class ScriptedServer {
    let port: UInt16
    private let listener: OwnedDescriptor
    private var thread: WorkerThread?

    /// - Parameter receiveBuffer: the size of the kernel's receive buffer; nil for the default.
    init(
        clients: Int = 1, receiveBuffer: CInt? = nil, _ script: @escaping @Sendable (ScriptedPeer) -> Void
    ) throws {
        listener = try OwnedDescriptor(checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        if var receiveBuffer {
            let size = socklen_t(MemoryLayout<CInt>.size)
            let isSet = setsockopt(listener.raw, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, size) == 0
            guard isSet else { throw Errno.current }
        }
        port = try Loopback.bind(listener.raw)
        guard listen(listener.raw, 4) == 0 else { throw Errno.current }
        let raw = listener.raw
        thread = try WorkerThread(name: "scripted-server") {
            for number in 0..<clients {
                let descriptor = accept(raw, nil, nil)
                guard descriptor >= 0 else { return }
                script(ScriptedPeer(descriptor, number: number))
            }
        }
    }

    deinit {
        shutdown(listener.raw, CInt(SHUT_RDWR))
        thread?.join()
    }
}

/// A port whose queue of waiting connections is full, so that the kernel silently drops further SYNs.
final class BlackHole {
    let port: UInt16
    private let listener: OwnedDescriptor
    private var fillers: [CInt] = []

    init() throws {
        listener = try OwnedDescriptor(checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        port = try Loopback.bind(listener.raw)
        guard listen(listener.raw, 0) == 0 else { throw Errno.current }
        for _ in 0..<4 {
            let filler = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            fillers.append(filler)
            Loopback.connect(filler, to: port)
        }
    }

    deinit { for filler in fillers { close(filler) } }
}

/// A bound port of a loopback address, which accepts or refuses connections.
final class LoopbackPort {
    let number: UInt16
    private let socket: OwnedDescriptor

    init(_ host: String, isListening: Bool) throws {
        let family = host.contains(":") ? AF_INET6 : AF_INET
        socket = try OwnedDescriptor(
            checking: Glibc.socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var number: UInt16
        if family == AF_INET {
            number = try Loopback.bind(socket.raw)
        } else {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let raw = socket.raw
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(raw, $0, length) == 0 && getsockname(raw, $0, &length) == 0
                }
            }
            guard isBound else { throw Errno.current }
            number = UInt16(bigEndian: address.sin6_port)
        }
        if isListening { guard listen(socket.raw, 4) == 0 else { throw Errno.current } }
        self.number = number
    }
}

/// Repeats a call that a signal has interrupted. The kernel does not, because the sockets have a timeout.
private func retryingInterrupts(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        guard result < 0, errno == EINTR else { return result }
    }
}

/// The server's end of a connection; closed when the script returns.
final class ScriptedPeer {
    /// The number of clients before this one.
    let number: Int
    private let descriptor: CInt
    private var seen: [UInt8] = []
    private var reader = RTMPChunkReader()

    init(_ descriptor: CInt, number: Int) {
        self.number = number
        self.descriptor = descriptor
        // A test that goes wrong ends instead of hanging.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    deinit { close(descriptor) }

    /// Sends all bytes. Returns false if the client has gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                retryingInterrupts {
                    Glibc.send(descriptor, buffer.baseAddress! + done, buffer.count - done, CInt(MSG_NOSIGNAL))
                }
            }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    func send(_ messages: RTMPMessage...) {
        var writer = ChunkWriter()
        for message in messages { writer.message(message.type.rawValue, message.payload) }
        send(writer.bytes)
    }

    /// Reads more bytes. Returns false if the client has gone.
    @discardableResult
    func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = retryingInterrupts { recv(descriptor, &buffer, buffer.count, 0) }
        if count > 0 { seen += buffer[..<count] }
        return count > 0
    }

    /// Bytes that the kernel has received and the script has not read.
    var unread: Int {
        var count: CInt = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Reads to the end. Returns the number of bytes, and whether the end was a reset.
    func receiveToEnd() -> (bytes: Int, isReset: Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var bytes = 0
        while true {
            let count = retryingInterrupts { recv(descriptor, &buffer, buffer.count, 0) }
            guard count > 0 else { return (bytes, count < 0 && errno == ECONNRESET) }
            bytes += count
        }
    }

    /// Simulates a link that loses everything: packets are dropped before TCP sees them.
    func loseEverything() throws {
        // "Keep 0 bytes" (BPF_RET | BPF_K), as struct sock_filter and struct sock_fprog.
        var instruction: UInt64 = 6
        let result = withUnsafePointer(to: &instruction) { pointer in
            var program = (count: UInt16(1), instructions: UnsafeRawPointer(pointer))
            let size = socklen_t(MemoryLayout.size(ofValue: program))
            return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size)
        }
        guard result == 0 else { throw Errno.current }
    }

    func loseNothing() {
        var ignored: CInt = 0
        setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &ignored, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Makes the close reset the connection.
    func resetWhenClosed() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the server's sending direction.
    func closeSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Reads until the text has arrived.
    func receive(until text: String) {
        let pattern = Array(text.utf8)
        while !seen.indices.contains(where: { seen[$0...].starts(with: pattern) }), receive() {}
    }

    /// Reads the next command from its chunks; nil if the client has gone.
    func receiveCommand() -> [AMF0Value]? {
        while true {
            var position = 0
            let message = try? reader.next(from: seen.span, at: &position)
            seen.removeFirst(position)
            if let message, message.type == .commandAMF0 {
                return try? AMF0Reader.values(in: message.payload.span.bytes)
            }
            if message == nil, !receive() { return nil }
        }
    }

    /// Reads until the client closes. Returns the bytes that no other call has consumed.
    func receiveRest() -> [UInt8] {
        while receive() {}
        return seen
    }

    /// Reads until the client closes.
    func receiveAll() { while receive() { seen.removeAll() } }

    /// RTMP's handshake, ignoring the client's contents.
    func handshake() {
        while seen.count < 1537, receive() {}
        send([3] + [UInt8](repeating: 0, count: 1536) + [UInt8](repeating: 0, count: 1536))
        while seen.count < 3073, receive() {}
        seen.removeFirst(min(seen.count, 3073))
    }

    /// Handshake and commands, until the client may send media.
    func acceptPublisher() {
        handshake()
        receive(until: "connect")
        acceptConnected()
    }

    /// The exchange after the client's `connect`, until the client may send media.
    func acceptConnected() {
        send(connectResult)
        receive(until: "createStream")
        send(createStreamResult)
        receive(until: "publish\u{0}\u{40}")
        send(publishStart)
    }
}
