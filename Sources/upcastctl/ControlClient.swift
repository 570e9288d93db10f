import ControlProtocol
import Glibc
import LinuxSystem

/// Why a daemon could not be asked, as a sentence for people.
enum ControlClientError: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    /// The daemon's own error.
    case refused(status: Int, ErrorReport)
    /// Whoever answered is not this daemon, or is one that this tool does not understand.
    case unintelligible(String)

    var exitStatus: ExitStatus {
        switch self {
        case .unreachable: .unreachable
        case .refused, .unintelligible: .refused
        }
    }

    var description: String {
        switch self {
        case .unreachable(let reason): reason
        case .refused(let status, let report):
            report.message.isEmpty
                ? "the daemon answered \(status)" : "the daemon answered \(status) \(report.code): \(report.message)"
        case .unintelligible(let reason): "the daemon's answer is not understood: \(reason)"
        }
    }
}

/// One HTTP request over a Unix socket, blocking, with a time limit.
struct ControlClient {
    static let maxAnswerBytes = 4 * 1024 * 1024

    let path: String
    var timeoutSeconds = 5

    /// The JSON that the daemon answers with 200.
    func get(_ target: String) throws(ControlClientError) -> JSONValue { try ask("GET", target) }

    /// The same for any method, with a body.
    @discardableResult
    func ask(_ method: String, _ target: String, body: String = "") throws(ControlClientError) -> JSONValue {
        let length = method == "GET" ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let (status, body) = try Self.split(
            try exchange("\(method) \(target) HTTP/1.1\r\nHost: upcastd\r\n\(length)Connection: close\r\n\r\n\(body)"))
        let json: JSONValue
        do { json = try JSONParser.parse(body) } catch {
            throw .unintelligible("\(error) of an answer \(status) with \(body.count) bytes")
        }
        guard status == 200 else { throw .refused(status: status, ErrorReport(json: json)) }
        return json
    }

    /// A value for a query: everything but RFC 3986's unreserved characters is escaped.
    static func escaped(_ value: String) -> String {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return value.utf8.map {
            unreserved.contains($0) ? String(UnicodeScalar($0)) : ($0 < 16 ? "%0" : "%") + String($0, radix: 16)
        }.joined()
    }

    /// Status and body of an HTTP/1.1 answer that was read to its end.
    static func split(_ answer: [UInt8]) throws(ControlClientError) -> (status: Int, body: [UInt8]) {
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw .unintelligible("it has no end of headers")
        }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw .unintelligible("it is not HTTP")
        }
        let body = Array(answer[end.upperBound...])
        for line in lines.dropFirst() where line.lowercased().hasPrefix("content-length:") {
            let length = Int(line.dropFirst("content-length:".count).drop { $0 == " " }) ?? -1
            guard length == body.count else { throw .unintelligible("it has \(body.count) bytes of \(length)") }
        }
        return (status, body)
    }

    private func exchange(_ request: String) throws(ControlClientError) -> [UInt8] {
        let socket: OwnedDescriptor
        do { socket = try UnixSocket.connect(path: path) } catch { throw .unreachable(Self.explain(error, path)) }
        var limit = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(socket.raw, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let bytes = Array(request.utf8)
        // A daemon with too many connections answers before it reads; so a failed send is not the end yet.
        _ = unsafe send(socket.raw, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe recv(socket.raw, &buffer, buffer.count, 0)
            if count > 0 {
                answer += buffer[..<count]
                guard answer.count <= Self.maxAnswerBytes else {
                    throw .unintelligible("it has more than \(Self.maxAnswerBytes) bytes")
                }
                continue
            }
            let error = Errno.current
            if count == 0 || (error.code == ECONNRESET && !answer.isEmpty) { return answer }
            if error.code == EINTR { continue }
            throw .unreachable(
                error.code == EAGAIN
                    ? "the daemon at \(path) did not answer within \(timeoutSeconds) s"
                    : "the daemon at \(path) hung up: \(error)")
        }
    }

    private static func explain(_ failure: UnixSocket.Failure, _ path: String) -> String {
        guard case .system(_, let error) = failure else { return "\(failure)" }
        switch error.code {
        case ENOENT:
            return "there is no control socket at \(path): upcastd is not running, or control.socket is another path "
                + "(give it with --socket or UPCAST_CONTROL_SOCKET)"
        case ECONNREFUSED: return "nobody listens at \(path): upcastd has ended without removing it"
        case EACCES, EPERM: return "no permission to use \(path): ask for membership in the group that owns it"
        default: return "\(failure)"
        }
    }
}
