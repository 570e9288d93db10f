import ControlProtocol
import LinuxSystem
import NIOCore
import NIOEmbedded
import Testing

@testable import Control

/// Who is answered over TCP.
@Suite struct RemoteControlTests {
    private func answer(_ request: String, token: ControlToken? = ControlToken("0123456789abcdef")) throws -> String {
        var routes = ControlRoutes.standard(status: { .full }, readiness: { .ready })
        routes.add("GET", "/metrics", for: [.lookers, .metricsReader]) { _ in .init(status: 200, json: .null) }
        routes.add("GET", "/state", for: .all) { _ in .init(status: 200, json: .null) }
        let channel = try EmbeddedChannel.served(
            routes, token: token, metricsToken: token == nil ? nil : ControlToken("metrics-89abcdef"))
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: request + "\r\n"))
        return try channel.written()
    }

    @Test(arguments: [
        "", "Authorization: Bearer \r\n", "Authorization: Bearer 0123456789abcdeX\r\n",
        "Authorization: Bearer 0123456789abcde\r\n", "Authorization: Bearer 0123456789abcdef0\r\n",
        "Authorization: Basic 0123456789abcdef\r\n", "Authorization: 0123456789abcdef\r\n",
    ])
    func noOneWithoutTheToken(header: String) throws {
        let text = try answer("GET /status HTTP/1.1\r\n\(header)")
        #expect(text.hasPrefix("HTTP/1.1 401 "))
        #expect(text.contains("WWW-Authenticate: Bearer\r\n"))
        #expect(!text.contains("0123456789"))
    }

    /// The daemon logs who was refused, and never the token; a client that needs none is not worth a line.
    @Test func whoIsRefusedIsReported() throws {
        let refused = Monitor<[RefusedToken]>([])
        func ask(_ request: String) throws -> String {
            let channel = try EmbeddedChannel.served(
                token: ControlToken("0123456789abcdef"), onRefusedToken: { one in refused.withLock { $0.append(one) } })
            defer { channel.end() }
            try channel.writeInbound(ByteBuffer(string: request + "\r\n"))
            return try channel.written()
        }
        let wrong = "Authorization: Bearer s3cret-that-is-wrong\r\n"
        #expect(try ask("GET /status HTTP/1.1\r\n\(wrong)").contains("the token is wrong: this needs the header"))
        #expect(try ask("GET /status?a=b HTTP/1.1\r\n").contains("\"this needs the header"))
        _ = try ask("GET /" + String(repeating: "x", count: 200) + " HTTP/1.1\r\n\(wrong)")
        _ = try ask("GET /healthz HTTP/1.1\r\n\(wrong)")
        _ = try ask("GET /status HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdef\r\n")
        let all = refused.withLock { $0 }
        #expect(all.map(\.isWrong) == [true, false, true] && all.map(\.path).prefix(2) == ["/status", "/status"])
        #expect(all.allSatisfy { $0.peer == "127.0.0.1" && $0.path.utf8.count <= 80 } && !"\(all)".contains("s3cret"))
    }

    @Test(arguments: ["Authorization: Bearer 0123456789abcdef\r\n", "authorization: bearer 0123456789abcdef\r\n"])
    func whoShowsTheToken(header: String) throws {
        #expect(try answer("GET /status HTTP/1.1\r\n\(header)").hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: [
        ("GET /metrics", 200), ("HEAD /metrics", 200), ("GET /status", 403), ("GET /state", 403), ("GET /healthz", 200),
        ("POST /metrics", 405), ("GET /nothing", 404),
    ])
    func theMetricsTokenIsForMetrics(request: String, status: Int) throws {
        let text = try answer("\(request) HTTP/1.1\r\nAuthorization: Bearer metrics-89abcdef\r\n")
        #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
        if status == 403 { #expect(text.contains("is for GET /metrics only")) }
    }

    @Test func anEmptyTokenAdmitsNobody() throws {
        let text = try answer("GET /status HTTP/1.1\r\nAuthorization: Bearer \r\n", token: ControlToken(""))
        #expect(text.hasPrefix("HTTP/1.1 401 "))
    }

    @Test func healthNeedsNone() throws {
        #expect(try answer("GET /healthz HTTP/1.1\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(try answer("HEAD /readyz HTTP/1.1\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(try answer("POST /healthz HTTP/1.1\r\n").hasPrefix("HTTP/1.1 401 "))
    }

    /// The reason names files of the daemon's: not for whoever can reach the port.
    @Test func aReasonWithFilesIsForLookers() throws {
        func ask(_ header: String, token: ControlToken? = ControlToken("0123456789abcdef")) throws -> String {
            let channel = try EmbeddedChannel.served(
                .standard(status: { .full }, readiness: { .filesNotReady("main: key_file /etc/key is empty") }),
                token: token, metricsToken: token == nil ? nil : ControlToken("metrics-89abcdef"))
            defer { channel.end() }
            try channel.writeInbound(ByteBuffer(string: "GET /readyz HTTP/1.1\r\n\(header)\r\n"))
            return try channel.written()
        }
        for header in ["", "Authorization: Bearer wrong\r\n", "Authorization: Bearer metrics-89abcdef\r\n"] {
            let text = try ask(header)
            #expect(text.hasPrefix("HTTP/1.1 503 ") && !text.contains("/etc/key") && !text.contains("main"), "\(text)")
            #expect(text.contains("the files of a destination are not in order"))
        }
        #expect(try ask("Authorization: Bearer 0123456789abcdef\r\n").contains("main: key_file /etc/key is empty"))
        #expect(try ask("", token: nil).contains("main: key_file /etc/key is empty"))
    }

    @Test func theSocketsPermissionsAreEnoughThere() throws {
        #expect(try answer("GET /status HTTP/1.1\r\n", token: nil).hasPrefix("HTTP/1.1 200 "))
    }

    @Test func aTokenIsNotPrinted() { #expect("\(ControlToken("0123456789abcdef"))" == "***") }
}
