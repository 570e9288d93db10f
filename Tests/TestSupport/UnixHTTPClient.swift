import Foundation
import Glibc
import LinuxSystem

/// A client of a few lines for HTTP/1.1 on a Unix socket: one request a connection.
package enum UnixHTTPClient {
    package struct Response: Sendable {
        package let status: Int
        package let body: String
    }

    package static func get(_ path: String, socket: String, within seconds: Double = 10) throws -> Response {
        let connection = try UnixSocket.connect(path: socket)
        var limit = timeval(tv_sec: Int(Patience.scaled(seconds)), tv_usec: 0)
        setsockopt(connection.raw, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let request = Array("GET \(path) HTTP/1.1\r\nHost: upcast\r\nConnection: close\r\n\r\n".utf8)
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
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"), text.hasPrefix("HTTP/1.1 "),
            let status = Int(text.dropFirst(9).prefix(3))
        else { throw TestFailure("not an HTTP response: \(text.prefix(200))") }
        return Response(status: status, body: String(text[end.upperBound...]))
    }
}
