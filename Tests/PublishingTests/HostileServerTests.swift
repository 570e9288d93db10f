import Buffering
import Endpoints
import FLV
import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Servers that refuse, lie, flood and fall silent. Each one ends in a named error.
@Suite struct HostileServerTests {
    static func run(
        port: UInt16, host: String = "127.0.0.1", log: PacketLog? = nil,
        _ change: (inout RTMPDestinationSettings) -> Void = { _ in }
    ) throws -> DestinationRun {
        let endpoint = try RTMPEndpoint("rtmp://\(host):\(port)/live")
        var rtmp = RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y"))
        change(&rtmp)
        return try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp)), log: log ?? FLVFixture.log())
    }

    @Test func nobodyListens() throws {
        let port = try Loopback.freePort()
        let error = try Self.run(port: port).failure()
        #expect(error.cause == .connect)
        #expect(error.description == """
            "main" (rtmp://127.0.0.1:\(port)/live): cannot connect: 127.0.0.1 port \(port): Connection refused; \
            nothing more is published there
            """)
    }

    @Test func aNameThatDoesNotResolve() throws {
        let error = try Self.run(port: 1935, host: "no-such-host.invalid").failure()
        #expect(error.cause == .nameResolution)
        #expect(error.detail.contains("no-such-host.invalid"))
    }

    @Test func aServerThatNeverAnswers() throws {
        let server = try ScriptedServer { $0.receiveAll() }
        let error = try Self.run(port: server.port) { $0.handshakeTimeout = .milliseconds(200) }.failure()
        #expect(error.cause == .handshakeTimeout, "\(error)")
    }

    @Test func aServerThatDribbles() throws {
        let server = try ScriptedServer { peer in
            while peer.send([3]) { usleep(20_000) }
        }
        let error = try Self.run(port: server.port) { $0.handshakeTimeout = .milliseconds(300) }.failure()
        #expect(error.cause == .handshakeTimeout, "\(error)")
    }

    @Test func aServerThatFallsSilentAfterTheHandshake() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.receiveAll()
        }
        let error = try Self.run(port: server.port) { $0.handshakeTimeout = .milliseconds(500) }.failure()
        #expect(error.cause == .handshakeTimeout)
        #expect(error.detail.contains("answer to connect"), "\(error)")
    }

    @Test func anErrorReplyWithoutDescription() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.send(command(.string("_error"), .number(1), .null, .null))
            peer.receiveAll()
        }
        let error = try Self.run(port: server.port).failure()
        #expect(error.cause == .rejected)
        #expect(error.detail == "the server rejected the application without saying why")
    }

    @Test func aRejectionThatNamesTheKey() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.send(connectResult)
            peer.receive(until: "createStream")
            peer.send(createStreamResult)
            peer.receive(until: "publish\u{0}\u{40}")
            peer.send(status("NetStream.Publish.Denied", level: "error", text: "stream k3y is not yours"))
            peer.receiveAll()
        }
        let error = try Self.run(port: server.port).failure()
        #expect(error.cause == .rejected)
        let reason = "NetStream.Publish.Denied: stream <redacted> is not yours"
        #expect(error.detail == "the server rejected the stream (\(reason))")
    }

    struct Junk: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ build: (inout ChunkWriter) -> Void) {
            self.name = name
            var writer = ChunkWriter()
            build(&writer)
            bytes = writer.bytes
        }
    }

    static let junk = [
        Junk("a header that lengthens a message") {
            $0.header(format: 0, stream: 3, length: 200, type: 20)
            $0.bytes += [UInt8](repeating: 0, count: 128)
            $0.header(format: 1, stream: 3, length: 200_000, type: 20)
            $0.bytes += [UInt8](repeating: 0, count: 200_000)
        },
        Junk("messages of 16 MB on many chunk streams") { writer in
            for stream in 2..<2000 {
                writer.header(format: 0, stream: stream, length: 0xff_ffff, type: 9)
                writer.bytes += [UInt8](repeating: 0, count: 128)
            }
        },
        Junk("a command of 16 MB") { $0.header(format: 0, stream: 3, length: 0xff_ffff, type: 20) },
        Junk("a chunk size of 0") { $0.message(1, [0, 0, 0, 0], stream: 2) },
        Junk("a chunk size of 2^31") { $0.message(1, [0x80, 0, 0, 0], stream: 2) },
        Junk("a command that is no AMF0") { $0.message(20, [0xff, 0xff]) },
        Junk("HTTP") { $0.bytes = Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8) },
    ]

    @Test(arguments: junk) func junkAfterTheHandshake(_ junk: Junk) throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.send(junk.bytes)
            peer.receiveAll()
        }
        let error = try Self.run(port: server.port).failure()
        #expect(error.cause == .protocolViolation, "\(error)")
    }

    @Test func resultsForNothingChangeNothing() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            for transaction in 2..<50 {
                peer.send(command(.string("_result"), .number(Double(transaction)), .null, .number(1)))
            }
            peer.receiveAll()
        }
        let error = try Self.run(port: server.port) { $0.handshakeTimeout = .milliseconds(500) }.failure()
        #expect(error.cause == .handshakeTimeout)
    }

    /// A server that pings without end gets a few answers, and media still goes out.
    @Test func aFloodOfPings() throws {
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            var writer = ChunkWriter()
            for number in UInt8.min...UInt8.max { writer.message(4, [0, 6, 0, 0, 0, number], stream: 2) }
            peer.send(writer.bytes)
            peer.receiveAll()
        }
        let log = FLVFixture.log()
        let run = try Self.run(port: server.port, log: log)
        for index in 0..<100 {
            let time = MediaTime.milliseconds(Int64(index))
            let priority: PacketPriority = index == 0 ? .keyframe : .reference
            let info = PacketInfo(track: .video, pts: time, dts: time, priority: priority)
            log.write(info, payload: [1, 2, 3].span.bytes)
        }
        try run.wait(for: .publishing)
        run.stop()
        #expect(run.destination.snapshot.video.packets == 100 && run.destination.snapshot.isDrained)
    }

    @Test func theServerEndsTheStream() throws {
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            peer.send(status("NetStream.Unpublish.Success", text: "the show is over"))
            peer.receiveAll()
        }
        let error = try Self.run(port: server.port).failure()
        #expect(error.cause == .closedByServer)
        #expect(error.detail == "the server ended the stream (NetStream.Unpublish.Success: the show is over)")
    }

    /// A redirect that cannot be followed is reported once, without secrets, and nothing changes.
    @Test func aReconnectRequestThatMustNotBeFollowed() throws {
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            for _ in 0..<3 { peer.send(reconnectRequest(to: "rtmp://k3y.example/live")) }
            peer.receiveAll()
        }
        let log = FLVFixture.log()
        let run = try Self.run(port: server.port, log: log)
        try run.wait(for: .publishing)
        try waitFor("a notice of the request", within: 30) { !run.notices.isEmpty }
        run.stop()
        #expect(run.notices == ["""
            "main" (rtmp://127.0.0.1:\(server.port)/live): the server asked for a reconnect to another host, \
            rtmp://<redacted>.example/live, which is not allowed; the connection is kept as long as the server keeps it
            """])
        #expect(run.destination.snapshot.state == .stopped)
    }
}
