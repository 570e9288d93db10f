import ControlProtocol
import NIOCore
import NIOEmbedded
import Testing

@testable import Control

/// Who is answered over TCP.
@Suite struct RemoteControlTests {
    private func answer(_ request: String, token: ControlToken? = ControlToken("0123456789abcdef")) throws -> String {
        let channel = try EmbeddedChannel.served(token: token)
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
