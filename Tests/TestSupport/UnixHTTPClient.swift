import Foundation
import Glibc
import LinuxSystem

/// A client of a few lines for HTTP/1.1 on a Unix socket: one request a connection.
package enum UnixHTTPClient {
    package struct Response: Sendable {
        package let status: Int
        package let head: String
        package let bytes: [UInt8]
        package var body: String { String(decoding: bytes, as: UTF8.self) }
    }

    package static func get(_ path: String, socket: String, within seconds: Double = 10) throws -> Response {
        try ask("GET", path, socket: socket, within: seconds)
    }

    package static func ask(
        _ method: String, _ path: String, body: String = "", socket: String, within seconds: Double = 10
    ) throws -> Response {
        let connection = try UnixSocket.connect(path: socket)
        var limit = timeval(tv_sec: Int(Patience.scaled(seconds)), tv_usec: 0)
        setsockopt(connection.raw, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let length = "Content-Length: \(body.utf8.count)\r\n"
        let request = Array("\(method) \(path) HTTP/1.1\r\nHost: upcast\r\n\(length)\r\n\(body)".utf8)
        guard send(connection.raw, request, request.count, CInt(MSG_NOSIGNAL)) == request.count else {
            throw Errno.current
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(connection.raw, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Errno.current }
            if count == 0 { break }
            answer += buffer[0..<count]
        }
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw TestFailure("not an HTTP response: \(String(decoding: answer.prefix(200), as: UTF8.self))")
        }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 "), let status = Int(head.dropFirst(9).prefix(3)) else {
            throw TestFailure("not an HTTP response: \(head.prefix(200))")
        }
        return Response(status: status, head: head, bytes: Array(answer[end.upperBound...]))
    }
}
