internal import Endpoints
internal import LinuxSystem
internal import MediaCore
internal import ProductVersion
internal import Publishing

/// One attempt to deliver a message: one connection, one request, the head of one answer.
struct WebhookAttempt {
    let settings: WebhookSettings
    let control: PublishControl
    let clock: any TimeSource

    /// How much of the answer's body is read, and for how long, so that closing does not reset a connection whose
    /// server still writes.
    private static let mostBodyBytes = 16 * 1024
    private static let bodyPatience = MediaTime.milliseconds(500)

    /// Blocks for at most the hook's timeout, plus the time that disks need for the secret and the certificates.
    func deliver(id: String, body: [UInt8]) -> WebhookOutcome {
        let secret: WebhookSecret
        do { secret = try settings.readSecret() } catch { return .failed(error.description) }
        let headers = WebhookSignature.headers(
            id: id, timestamp: UnixTime.milliseconds / 1000, body: body, secret: secret)
        guard let headers else { return .refused("this machine's GnuTLS refuses HMAC-SHA256 with the secret") }
        do throws(PublishError) {
            let deadline = clock.now() + settings.timeout
            let url = settings.url
            let connection = try ServerConnection(
                to: .init(
                    host: url.host, port: url.port, isSecure: url.isSecure, caFile: settings.caFile,
                    policy: settings.policy), control: control, clock: clock, until: deadline)
            try connection.send(Self.request(to: url, headers, body))
            return try outcome(of: connection)
        } catch {
            switch error.cause {
            case .cancelled: return .cancelled
            case .rejected: return .refused("\(error.detail); allow_private lists private addresses that are allowed")
            default: return .failed(error.detail)
            }
        }
    }

    static func request(to url: WebhookURL, _ headers: [(name: String, value: String)], _ body: [UInt8]) -> [UInt8] {
        var head = "POST \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nUser-Agent: upcastd/\(Version.current)\r\n"
        head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n"
        for header in headers { head += "\(header.name): \(header.value)\r\n" }
        return Array(head.utf8) + [13, 10] + body
    }

    private func outcome(of connection: ServerConnection) throws(PublishError) -> WebhookOutcome {
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = try connection.receive(into: &buffer)
            guard count > 0 else { return .failed("the server closed the connection without an answer") }
            answer += buffer[..<count]
            switch WebhookAnswer.parse(answer[...]) {
            case .more: continue
            case .broken(let why): return .failed(why)
            case .done(let answer):
                drain(connection, &buffer)
                return answer.outcome
            }
        }
    }

    private func drain(_ connection: ServerConnection, _ buffer: inout [UInt8]) {
        connection.finish()
        let end = clock.now() + Self.bodyPatience
        var total = 0
        while total < Self.mostBodyBytes, let count = try? connection.receive(into: &buffer, until: end), count > 0 {
            total += count
        }
    }
}
