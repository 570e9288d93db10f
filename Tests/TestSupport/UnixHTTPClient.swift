import Foundation
import Glibc
import LinuxSystem

/// A small client for HTTP/1.1 on a Unix socket or TCP: one request per connection.
package enum UnixHTTPClient {
    package struct Response: Sendable {
        package let status: Int
        /// The keys are names in lower case.
        package let headers: [String: String]
        package let bytes: [UInt8]
        package var body: String { String(decoding: bytes, as: UTF8.self) }
        /// Without parameters.
        package var mediaType: String { String((headers["content-type"] ?? "").prefix { $0 != ";" }) }
    }

    package static func get(_ path: String, socket: String, within seconds: Double = 10) throws -> Response {
        try ask("GET", path, socket: socket, within: seconds)
    }

    /// Sends a request with any method, and a body if there is one.
    package static func ask(
        _ method: String, _ path: String, body: String = "", socket: String, within seconds: Double = 10
    ) throws -> Response {
        let connection = try UnixSocket.connect(path: socket)
        return try exchange(method, path, on: connection, [:], body, within: seconds) { _ in false }
    }

    /// Sends a request to a port of 127.0.0.1.
    package static func ask(
        _ method: String, _ path: String, port: UInt16, headers: [String: String] = [:], within seconds: Double = 10
    ) throws -> Response {
        let connection = try Loopback.connect(port)
        return try exchange(method, path, on: connection, headers, "", within: seconds) { _ in false }
    }

    /// What a stream has sent when `isEnough` returns true, including the framing of its transfer encoding.
    package static func stream(
        _ path: String, socket: String, within seconds: Double = 15, until isEnough: (String) -> Bool
    ) throws -> Response {
        let connection = try UnixSocket.connect(path: socket)
        return try exchange("GET", path, on: connection, [:], "", within: seconds, until: isEnough)
    }

    private static func exchange(
        _ method: String, _ path: String, on connection: borrowing OwnedDescriptor, _ headers: [String: String],
        _ body: String, within seconds: Double, until isEnough: (String) -> Bool
    ) throws -> Response {
        var limit = timeval(tv_sec: Int(Patience.scaled(seconds)), tv_usec: 0)
        setsockopt(connection.raw, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var text = "\(method) \(path) HTTP/1.1\r\nHost: upcast\r\nConnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        text += "Content-Length: \(body.utf8.count)\r\n"
        let request = Array((text + "\r\n" + body).utf8)
        // A server may refuse a request that is too long before it has read all of it.
        _ = send(connection.raw, request, request.count, CInt(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let deadline = Patience.deadline(seconds)
        while true {
            // A stream that was sent by mistake would never end.
            guard MonotonicClock().now() < deadline else {
                throw TestFailure("not over: \(String(decoding: answer.prefix(300), as: UTF8.self))")
            }
            let count = recv(connection.raw, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            if count == 0 || (count < 0 && errno == ECONNRESET && !answer.isEmpty) { break }
            guard count > 0 else { throw Errno.current }
            answer += buffer[0..<count]
            if isEnough(String(decoding: answer, as: UTF8.self)) { break }
        }
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw TestFailure("not an HTTP response: \(String(decoding: answer.prefix(200), as: UTF8.self))")
        }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard lines[0].hasPrefix("HTTP/1.1 "), let status = Int(lines[0].dropFirst(9).prefix(3)) else {
            throw TestFailure("not an HTTP response: \(lines[0])")
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return Response(status: status, headers: fields, bytes: Array(answer[end.upperBound...]))
    }
}
