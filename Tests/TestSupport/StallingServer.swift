import Foundation
import Glibc
import LinuxSystem
import MediaCore

/// An RTMP server on loopback that accepts every publisher. A test decides when it reads.
///
/// While it does not read, its kernel accepts almost no data, so that sent data stays in the publisher's kernel.
package final class StallingServer: Sendable {
    /// The state of one connection.
    package struct Connection: Sendable {
        /// Bytes that were read since media could come.
        package var received = 0
        /// Bytes in this machine's receive buffer that were not read.
        package var unread = 0
        package var isPublishing = false
        package var end: End?
    }
    package enum End: Sendable { case closed, reset }

    private struct State {
        var isReading = true
        var isOver = false
        var connections: [Connection] = []
        var descriptors: [CInt] = []
    }

    package let port: UInt16
    private let listener: OwnedDescriptor
    private let state: Monitor<State>

    package init(receiveBuffer: CInt = 4096) throws {
        port = try Loopback.freePort()
        listener = try Loopback.tcpSocket()
        let (descriptor, state) = (listener.raw, Monitor(State()))
        self.state = state
        var size = receiveBuffer
        let length = socklen_t(MemoryLayout<CInt>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length) == 0 else { throw Errno.current }
        try Loopback.bind(descriptor, to: port)
        guard listen(descriptor, 8) == 0 else { throw Errno.current }
        Thread.detachNewThread { Self.accept(on: descriptor, state) }
    }

    deinit {
        state.signal { $0.isOver = true }
        shutdown(listener.raw, CInt(SHUT_RDWR))
    }

    /// From now on, nothing is read, except by a read that is already in progress.
    package func stall() { state.signal { $0.isReading = false } }
    package func resume() { state.signal { $0.isReading = true } }

    /// Asks the publisher of a connection to reconnect to the same address.
    package func requestReconnect(_ index: Int) {
        let descriptor = state.withLock { $0.descriptors[index] }
        let information = AMF.object([
            ("level", AMF.string("status")), ("code", AMF.string("NetConnection.Connect.ReconnectRequest")),
        ])
        Self.send(AMF.string("onStatus") + AMF.number(0) + [5] + information, to: descriptor)
    }

    package var connections: [Connection] {
        state.withLock { state in
            state.connections.indices.map { index in
                var connection = state.connections[index]
                var count: CInt = 0
                if connection.end == nil, ioctl(state.descriptors[index], UInt(FIONREAD), &count) == 0 {
                    connection.unread = Int(count)
                }
                return connection
            }
        }
    }

    // MARK: Threads

    private static func accept(on listener: CInt, _ state: Monitor<State>) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            let index = state.withLock { state in
                state.connections.append(Connection())
                state.descriptors.append(descriptor)
                return state.connections.count - 1
            }
            Thread.detachNewThread {
                serve(descriptor, index, state)
                // It is closed under the lock, so that no other thread asks for its unread bytes any more.
                state.signal { state in
                    if state.connections[index].end == nil { state.connections[index].end = .closed }
                    close(descriptor)
                }
            }
        }
    }

    private static func serve(_ descriptor: CInt, _ index: Int, _ state: Monitor<State>) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var seen: [UInt8] = []
        /// False at the end.
        func read() -> Int? {
            while true {
                let mayRead: Bool? = state.wait(until: MonotonicClock().now() + .seconds(60)) {
                    $0.isOver ? false : $0.isReading ? true : nil
                }
                guard mayRead == true else { return nil }
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&polled, 1, 10) > 0, state.withLock({ $0.isReading }) else { continue }
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count > 0 { return count }
                let end: End = count == 0 ? .closed : .reset
                state.signal { $0.connections[index].end = end }
                return nil
            }
        }
        func read(until isThere: () -> Bool) -> Bool {
            while !isThere() {
                guard let count = read() else { return false }
                seen += buffer[..<count]
            }
            return true
        }
        func read(until text: String) -> Bool {
            let pattern = Array(text.utf8)
            return read { seen.indices.contains { seen[$0...].starts(with: pattern) } }
        }
        guard read(until: { seen.count >= 1537 }) else { return }
        write([3] + [UInt8](repeating: 0, count: 3072), to: descriptor)
        guard read(until: { seen.count >= 3073 }), read(until: "connect") else { return }
        let success = AMF.object([
            ("level", AMF.string("status")), ("code", AMF.string("NetConnection.Connect.Success")),
        ])
        send(AMF.string("_result") + AMF.number(1) + [5] + success, to: descriptor)
        guard read(until: "createStream") else { return }
        send(AMF.string("_result") + AMF.number(4) + [5] + AMF.number(1), to: descriptor)
        guard read(until: "publish\u{0}\u{40}") else { return }
        let start = AMF.object([("level", AMF.string("status")), ("code", AMF.string("NetStream.Publish.Start"))])
        send(AMF.string("onStatus") + AMF.number(0) + [5] + start, to: descriptor)
        state.signal { $0.connections[index].isPublishing = true }
        while let count = read() { state.signal { $0.connections[index].received += count } }
    }

    /// Sends a command of at most 128 bytes in one chunk.
    private static func send(_ command: [UInt8], to descriptor: CInt) {
        precondition(command.count <= 128)
        write([3, 0, 0, 0, 0, 0, UInt8(command.count), 20, 0, 0, 0, 0] + command, to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, CInt(MSG_NOSIGNAL)) }
    }

    private enum AMF {
        static func text(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + Array(text.utf8) }
        static func string(_ text: String) -> [UInt8] { [2] + Self.text(text) }
        static func number(_ value: Double) -> [UInt8] {
            [0] + (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (56 - 8 * UInt64($0))) }
        }
        static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
            [3] + members.flatMap { text($0) + $1 } + [0, 0, 9]
        }
    }
}

/// The kernel's TCP sockets that are connected to a port of 127.0.0.1, from /proc/net/tcp.
package struct TCPSocketEntry: Sendable {
    /// Bytes that the peer has not acknowledged.
    package var unacknowledged: Int
    /// Bytes that the process has not read.
    package var unread: Int
    /// Whether a process has the socket open; false if only the kernel still handles it.
    package var isOpen: Bool

    package static func sockets(to port: UInt16) throws -> [TCPSocketEntry] {
        let file = try OwnedDescriptor(checking: open("/proc/net/tcp", O_RDONLY | O_CLOEXEC))
        var bytes: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 65_536)
        // The kernel returns a few lines for each read, and Foundation mistakes a short read for the end.
        while true {
            let count = read(file.raw, &page, page.count)
            guard count > 0 else { break }
            bytes += page[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, let remote = fields[2].split(separator: ":").last,
                UInt16(remote, radix: 16) == port
            else { return nil }
            let queues = fields[4].split(separator: ":").map { Int($0, radix: 16) ?? 0 }
            return TCPSocketEntry(
                unacknowledged: queues.first ?? 0, unread: queues.last ?? 0, isOpen: fields[9] != "0")
        }
    }
}
