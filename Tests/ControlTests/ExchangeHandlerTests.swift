import NIOCore
import NIOEmbedded
import Testing

@testable import Control

/// Timeouts, with a clock that the test turns.
@Suite struct ExchangeHandlerTests {
    @Test func theRequestHasFiveSeconds() throws {
        let channel = try EmbeddedChannel.served()
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /healthz HTTP/1.1\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(4999))
        #expect(channel.isActive)
        #expect(try channel.written().isEmpty)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(try channel.written().hasPrefix("HTTP/1.1 408 "))
        #expect(!channel.isActive)
    }

    /// One byte now and then does not buy more time.
    @Test func drippingDoesNotExtendIt() throws {
        let channel = try EmbeddedChannel.served()
        defer { channel.end() }
        for byte in "GET /healthz HTTP/1.1\r\nX: y\r\n".utf8.prefix(24) {
            try channel.writeInbound(ByteBuffer(bytes: [byte]))
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(250))
            if !channel.isActive { break }
        }
        #expect(!channel.isActive)
    }

    @Test func anAnsweredConnectionClosesAtOnce() throws {
        let channel = try EmbeddedChannel.served()
        defer { channel.end() }
        try channel.writeInbound(ByteBuffer(string: "GET /healthz HTTP/1.1\r\n\r\n"))
        #expect(try channel.written().hasPrefix("HTTP/1.1 200 "))
        #expect(!channel.isActive)
        // No timer is left that would answer again.
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(try channel.written().isEmpty)
    }
}
