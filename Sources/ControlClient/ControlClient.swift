package import ControlProtocol
internal import LinuxSystem
package import MediaCore

/// Sends requests to a control server over HTTP/1.1: one request per connection, blocking, with a time limit.
///
/// Answers are not trusted. Their size and duration are bounded, and no text of them is printed unchanged.
package struct ControlClient {
    static let maxAnswerBytes = 4 * 1024 * 1024

    package let address: ControlAddress
    package var token: AccessToken?
    /// The time limit of one request, from connecting to the last byte of the answer.
    package var timeout: MediaTime

    package init(address: ControlAddress, token: AccessToken? = nil, timeout: MediaTime = .seconds(5)) {
        self.address = address
        self.token = token
        self.timeout = timeout
    }

    package struct Answer: Equatable {
        package var status: Int
        package var mediaType: String
        package var body: [UInt8]

        package init(status: Int, mediaType: String, body: [UInt8]) {
            (self.status, self.mediaType, self.body) = (status, mediaType, body)
        }
    }

    /// The JSON of an answer with status 200.
    package func get(_ target: String) throws(ControlClientError) -> JSONValue { try ask("GET", target) }

    /// The same for any method, with a body.
    @discardableResult
    package func ask(
        _ method: String, _ target: String, body: JSONValue? = nil
    ) throws(ControlClientError) -> JSONValue {
        let answer = try exchange(method, target, body: body)
        guard answer.status == 200 else { throw refusal(answer) }
        return try Self.json(answer)
    }

    /// The answer, whatever its status.
    package func exchange(
        _ method: String, _ target: String, body: JSONValue? = nil
    ) throws(ControlClientError) -> Answer {
        let deadline = self.deadline
        let connection = try open(method, target, body: body, deadline: deadline)
        var parser = HTTPAnswerParser()
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        var isAnything = false
        while !parser.isComplete {
            guard connection.waitToReceive(until: deadline) else { throw unanswered(isAnything) }
            guard let bytes = try connection.receive(into: &buffer) else { continue }
            guard !bytes.isEmpty else {
                guard isAnything else { throw .unreachable("the daemon at \(address) hung up without an answer") }
                try parser.end()
                break
            }
            isAnything = true
            received += try parser.feed(bytes)
            guard received.count <= Self.maxAnswerBytes else {
                throw .unintelligible("it has more than \(Self.maxAnswerBytes) bytes")
            }
        }
        guard let head = parser.head else { throw .unintelligible("it has no end of headers") }
        return Answer(status: head.status, mediaType: head.mediaType, body: received)
    }

    /// The time on CLOCK_MONOTONIC by which a request that begins now must be over.
    package var deadline: MediaTime { MonotonicClock().now() + timeout }

    /// Connects and sends a request. The caller reads the answer.
    func open(
        _ method: String, _ target: String, headers: String = "", body: JSONValue? = nil, deadline: MediaTime
    ) throws(ControlClientError) -> ControlConnection {
        let connection = try ControlConnection(address, deadline: deadline)
        let content = body?.serialized() ?? []
        var head = "\(method) \(address.prefix)\(target) HTTP/1.1\r\nHost: \(address.host)\r\nConnection: close\r\n"
        if body != nil { head += "Content-Type: application/json\r\n" }
        if method != "GET" { head += "Content-Length: \(content.count)\r\n" }
        head += headers + (token?.header ?? "") + "\r\n"
        connection.send(Array(head.utf8) + content, deadline: deadline)
        return connection
    }

    func unanswered(_ isAnything: Bool) -> ControlClientError {
        let what = isAnything ? "finish its answer" : "answer"
        return .unanswered("the daemon at \(address) did not \(what) within \(shownTimeout)")
    }

    package static func json(_ answer: Answer) throws(ControlClientError) -> JSONValue {
        do { return try JSONParser.parse(answer.body) } catch {
            throw .unintelligible("\(error) of an answer \(answer.status) with \(answer.body.count) bytes")
        }
    }

    private var shownTimeout: String {
        let milliseconds = timeout.milliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }

    /// The error in an answer without success. For an error about the token, it names the options that set one.
    package func refusal(_ answer: Answer) -> ControlClientError {
        let refusal = Self.refusal(answer)
        guard case .refused(401, var report) = refusal else { return refusal }
        report.message =
            if let token {
                "the token in \(token.file) is not the daemon's; --token-file must name a file with the token of "
                    + "control.token_file"
            } else {
                "the daemon asks for a token; name a file with the token of its control.token_file with "
                    + "--token-file or UPCAST_CONTROL_TOKEN_FILE"
            }
        return .refused(status: 401, report)
    }

    static func refusal(_ answer: Answer) -> ControlClientError {
        let report = ErrorReport(json: (try? json(answer)) ?? .null)
        guard !report.message.isEmpty else {
            return .unintelligible("it is \(answer.status) without this daemon's error; something else is there")
        }
        return .refused(status: answer.status, report)
    }

    /// Escapes a value for a query: every byte except the unreserved characters of RFC 3986.
    package static func escaped(_ value: String) -> String {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return value.utf8.map {
            unreserved.contains($0) ? String(UnicodeScalar($0)) : ($0 < 16 ? "%0" : "%") + String($0, radix: 16)
        }.joined()
    }
}
