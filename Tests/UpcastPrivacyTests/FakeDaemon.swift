import Foundation
import LinuxSystem
import MediaCore
import TestSupport

/// What a test waited for did not come.
struct Missing: Error, CustomStringConvertible {
    let description: String
    init(_ what: String) { description = "waited in vain for \(what)" }
}

/// A control socket whose connections the test itself answers, as badly as it likes. Every wait ends after ten seconds.
final class FakeDaemon: Sendable {
    private let listener: OwnedDescriptor

    /// - Parameter backlog: connections that wait to be accepted.
    init(_ path: String, backlog: CInt = 8) throws {
        listener = try UnixSocket.listen(path: path, mode: 0o600, backlog: backlog)
    }

    /// Closing is not enough: a process that another test starts has the descriptor, too, until its `exec`.
    deinit { shutdown(listener.raw, CInt(SHUT_RDWR)) }

    /// Whether somebody connects in so many milliseconds.
    func hasConnection(within milliseconds: CInt) -> Bool {
        var one = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
        return poll(&one, 1, milliseconds) == 1
    }

    /// The next connection, with its request.
    func accept() throws -> FakeConnection {
        var one = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
        // A guard against a hang only: beside other tests, a task may wait for a thread for a minute.
        guard poll(&one, 1, 120_000) == 1, let socket = try UnixSocket.accept(listener) else {
            throw Missing("a connection")
        }
        return try FakeConnection(socket)
    }
}

/// A connection of `FakeDaemon`; closed when it goes away.
final class FakeConnection {
    private let socket: OwnedDescriptor
    /// Head and body.
    let request: String

    /// A stream of events that goes on until the connection ends.
    static let streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    init(_ socket: consuming OwnedDescriptor) throws {
        self.socket = socket
        var text = ""
        while !Self.isWhole(text) {
            guard let more = Self.receive(self.socket.raw), !more.isEmpty else { throw Missing("a whole request") }
            text += more
        }
        request = text
    }

    deinit { shutdown(socket.raw, CInt(SHUT_RDWR)) }

    private static func isWhole(_ text: String) -> Bool {
        let parts = text.components(separatedBy: "\r\n\r\n")
        guard parts.count == 2 else { return false }
        let length = parts[0].components(separatedBy: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        return parts[1].utf8.count == length.flatMap { Int($0.dropFirst(16)) } ?? 0
    }

    /// Nil where nothing came in ten seconds, empty at the end.
    private static func receive(_ raw: CInt) -> String? {
        var one = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        guard poll(&one, 1, 10_000) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(raw, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Sends as much as the other side takes; false where it has hung up.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket.raw, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count < 0, errno == EAGAIN {
                var one = pollfd(fd: socket.raw, events: Int16(POLLOUT), revents: 0)
                guard poll(&one, 1, 10_000) == 1 else { return false }
                continue
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func tell(_ number: Int, _ data: String) -> Bool { send("id: \(number)\nevent: state\ndata: \(data)\n\n") }

    func waitForHangUp() throws {
        guard Self.receive(socket.raw) == "" else { throw Missing("the other side to hang up") }
    }
}

/// An answer of JSON, whole.
func answer(_ status: Int, _ json: String) -> String {
    "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)"
}

extension TemporaryDirectory {
    var socket: String { file("control.sock") }
}

/// The real one, which counts who looks.
final class CountingClock: TimeSource {
    private let count = Monitor(0)
    var looks: Int { count.withLock { $0 } }

    func now() -> MediaTime {
        count.withLock { $0 += 1 }
        return MonotonicClock().now()
    }

    func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool {
        MonotonicClock().wait(on: condition, until: deadline)
    }
}

/// Descriptors that a test keeps open.
final class KeptOpen {
    private(set) var all: [CInt] = []
    func add(_ descriptor: consuming OwnedDescriptor) { all.append(descriptor.relinquish()) }
    deinit { for one in all { close(one) } }

    /// Connects until the listener's backlog is full.
    func fill(_ path: String) {
        while let socket = try? UnixSocket.connect(path: path, timeout: .milliseconds(1)) { add(socket) }
    }
}
