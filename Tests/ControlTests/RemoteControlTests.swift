import ControlProtocol
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

    @Test func theSocketsPermissionsAreEnoughThere() throws {
        #expect(try answer("GET /status HTTP/1.1\r\n", token: nil).hasPrefix("HTTP/1.1 200 "))
    }

    @Test func aTokenIsNotPrinted() { #expect("\(ControlToken("0123456789abcdef"))" == "***") }
}
