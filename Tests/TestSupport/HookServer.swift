import Foundation
import Glibc
import LinuxSystem
import MediaCore

/// An HTTP server on loopback, made of plain sockets, that answers each request as a test specifies, or not at all.
package final class HookServer: Sendable {
    /// How the server handles one connection.
    package enum Behaviour: Sendable {
        case answer(Int, headers: [String] = [])
        /// Reads the request and never answers.
        case hang
        /// Accepts and never reads.
        case deaf
        /// Reads the request and resets the connection.
        case reset
        /// Reads the request and closes without an answer.
        case close
        /// Sends one byte of an endless answer each 10 ms.
        case trickle
        /// Sends 200 and an endless body.
        case endlessBody
        /// Sends an endless head.
        case endlessHead
    }

    package struct Request: Sendable {
        package var line: String
        /// Names in lower case.
        package var headers: [String: String]
        package var body: [UInt8]

        /// The body as JSON.
        package var json: [String: Any] {
            get throws {
                guard let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
                    throw TestFailure("the body is no JSON object: \(String(decoding: body, as: UTF8.self))")
                }
                return object
            }
        }
    }

    private struct State {
        /// One for each of the next connections; the last one applies to all later connections.
        var behaviours: [Behaviour]
        var requests: [Request] = []
        var connections = 0
        /// How many bytes of an endless answer the client has taken.
        var sent = 0
        var isOver = false
    }

    package let port: UInt16
    private let listener: Listener
    private let state: Monitor<State>

    package init(_ behaviours: Behaviour...) throws {
        port = try Loopback.freePort()
        let (listener, state) = (try Listener(), Monitor(State(behaviours: behaviours)))
        (self.listener, self.state) = (listener, state)
        try Loopback.bind(listener.raw, to: port)
        guard listen(listener.raw, 8) == 0 else { throw Errno.current }
        // The thread keeps the descriptor open. Otherwise, it could accept connections of a later owner of its number.
        Thread.detachNewThread { Self.accept(on: listener, state) }
    }

    deinit {
        state.signal { $0.isOver = true }
        shutdown(listener.raw, CInt(SHUT_RDWR))
    }

    package var url: String { "http://127.0.0.1:\(port)/hooks?token=s3cret" }
    package var requests: [Request] { state.withLock { $0.requests } }
    package var connections: Int { state.withLock { $0.connections } }
    package var sent: Int { state.withLock { $0.sent } }

    /// Sets the behaviours from the next connection on.
    package func behave(_ behaviours: Behaviour...) { state.withLock { $0.behaviours = behaviours } }

    package func waitForRequests(_ count: Int, within seconds: Double = 15) throws -> [Request] {
        let requests = state.wait(until: Patience.deadline(seconds)) { state in
            state.requests.count >= count ? state.requests : nil
        }
        guard let requests else { throw TestFailure("\(self.requests.count) of \(count) requests came") }
        return requests
    }

    package func waitForConnections(_ count: Int, within seconds: Double = 15) throws {
        let isThere = state.wait(until: Patience.deadline(seconds)) { $0.connections >= count ? true : nil }
        guard isThere == true else { throw TestFailure("\(connections) of \(count) connections came") }
    }

    // MARK: Threads

    /// The descriptor stays open until both the server and its thread have released this object.
    private final class Listener: Sendable {
        private let descriptor: OwnedDescriptor
        init() throws { descriptor = try Loopback.tcpSocket() }
        var raw: CInt { descriptor.raw }
    }

    private static func accept(on listener: Listener, _ state: Monitor<State>) {
        while true {
            let descriptor = Glibc.accept(listener.raw, nil, nil)
            guard descriptor >= 0 else { return }
            let behaviour = state.signal { state in
                state.connections += 1
                return state.behaviours.count > 1 ? state.behaviours.removeFirst() : state.behaviours[0]
            }
            Thread.detachNewThread {
                serve(descriptor, behaviour, state)
                Glibc.close(descriptor)
            }
        }
    }

    private static func serve(_ descriptor: CInt, _ behaviour: Behaviour, _ state: Monitor<State>) {
        if case .deaf = behaviour { return waitForEnd(descriptor, state, reads: false) }
        guard let request = read(descriptor) else { return }
        state.signal { $0.requests.append(request) }
        switch behaviour {
        case .answer(let status, let headers):
            let head = (["HTTP/1.1 \(status) Words", "Content-Length: 2"] + headers).joined(separator: "\r\n")
            _ = send(Array("\(head)\r\n\r\nOK".utf8), to: descriptor)
        case .hang, .deaf: waitForEnd(descriptor, state, reads: true)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        case .close: break
        case .trickle:
            for byte in Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [UInt8](repeating: 0x78, count: 6_000) {
                guard send([byte], to: descriptor) else { return }
                usleep(10_000)
            }
        case .endlessBody:
            _ = send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), to: descriptor)
            flood(descriptor, state)
        case .endlessHead:
            _ = send(Array("HTTP/1.1 200 OK\r\nX: ".utf8), to: descriptor)
            flood(descriptor, state)
        }
    }

    private static func flood(_ descriptor: CInt, _ state: Monitor<State>) {
        let piece = [UInt8](repeating: 0x78, count: 65_536)
        while send(piece, to: descriptor) { state.signal { $0.sent += piece.count } }
    }

    /// Waits until the client closes, or the test is over.
    private static func waitForEnd(_ descriptor: CInt, _ state: Monitor<State>, reads: Bool) {
        var byte: UInt8 = 0
        while !state.withLock({ $0.isOver }) {
            var polled = pollfd(fd: descriptor, events: reads ? Int16(POLLIN) : 0, revents: 0)
            guard poll(&polled, 1, 50) > 0 else { continue }
            if !reads || recv(descriptor, &byte, 1, 0) <= 0 { return }
        }
    }

    private static func read(_ descriptor: CInt) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let request = parse(bytes) { return request }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func parse(_ bytes: [UInt8]) -> Request? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let body = Array(bytes[end.upperBound...])
        guard let length = headers["content-length"].flatMap({ Int($0) }), body.count >= length else { return nil }
        return Request(line: lines[0], headers: headers, body: body)
    }

    private static func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, CInt(MSG_NOSIGNAL)) } == bytes.count
    }
}
