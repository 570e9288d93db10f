import Buffering
import Endpoints
import FLV
import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import Testing

/// Servers that misbehave after they have accepted the stream. Media still goes out, or the error has a name.
@Suite struct HostilePublishedServerTests {
    /// A server's misbehaviour during a connection.
    struct Nuisance: Sendable, CustomTestStringConvertible {
        var name: String
        /// Runs after "publish" was accepted. Returns false if the client has gone.
        var act: @Sendable (ScriptedPeer) -> Bool
        var testDescription: String { name }

        init(_ name: String, _ act: @escaping @Sendable (ScriptedPeer) -> Bool) {
            self.name = name
            self.act = act
        }

        /// Sends the same bytes `count` times, in portions.
        init(_ name: String, count: Int, _ build: (inout ChunkWriter) -> Void) {
            var writer = ChunkWriter()
            build(&writer)
            let portions = max(1, 16_384 / writer.bytes.count)
            let bytes = Array(repeatElement(writer.bytes, count: portions).joined())
            self.init(name) { peer in
                for _ in 0..<(count / portions) { if !peer.send(bytes) { return false } }
                return true
            }
        }
    }

    static func portion(_ message: RTMPMessage) -> (inout ChunkWriter) -> Void {
        { $0.message(message.type.rawValue, message.payload) }
    }

    /// Harmless: the stream continues.
    static let harmless = [
        Nuisance("100,000 pings", count: 100_000) { $0.message(4, [0, 6, 0, 0, 0, 7], stream: 2) },
        Nuisance("acknowledgements of 4 GB", count: 20_000) { $0.message(3, [0xff, 0xff, 0xff, 0xff], stream: 2) },
        Nuisance("acknowledgements that jump", count: 20_000) {
            for count in [0x7fff_ffff, 0, 0xfff0_0000, 1, 0x8000_0000] {
                $0.message(3, ChunkWriter.bigEndian(count, 4), stream: 2)
            }
        },
        Nuisance("10,000 errors for nothing", count: 10_000, portion(command(.string("_error"), .number(77), .null))),
        Nuisance("10,000 results for nothing", count: 10_000, portion(createStreamResult)),
        Nuisance("10,000 codes that nobody knows", count: 10_000, portion(status("NetStream.Buffer.Full"))),
        Nuisance(
            "5,000 requests to go elsewhere", count: 5_000,
            portion(reconnectRequest(to: "rtmp://elsewhere.example/live"))),
        Nuisance("2 MB of video", count: 128) {
            $0.setChunkSize(65_536)
            $0.message(9, [UInt8](repeating: 0, count: 16_000), stream: 6)
        },
        Nuisance("a window that shrinks to a byte") { peer in
            for window in stride(from: 2_000_000, to: 0, by: -1_000) {
                var writer = ChunkWriter()
                writer.message(6, ChunkWriter.bigEndian(window, 4) + [2], stream: 2)
                if !peer.send(writer.bytes) { return false }
            }
            return true
        },
        Nuisance("a message that never ends") { peer in
            var writer = ChunkWriter()
            writer.header(format: 0, stream: 3, length: 10_000, type: 20)
            for byte in writer.bytes { if !peer.send([byte]) { return false } }
            for _ in 0..<20 {
                usleep(5_000)
                if !peer.send([0]) { return false }
            }
            return true
        },
    ]

    @Test(arguments: harmless) func mediaGoesOn(_ nuisance: Nuisance) throws {
        let run = try Self.publish(to: nuisance)
        let snapshot = run.destination.snapshot
        #expect(snapshot.video.packets == 32 && snapshot.isDrained, "\(run.said)")
        #expect(snapshot.bytesAcknowledged ?? 0 <= snapshot.bytesSent, "more is acknowledged than was sent")
        #expect(run.said.count < 8, "\(run.said)")
    }

    /// Publishes 32 packets to such a server, each after the one before is out, so that the publisher keeps reading.
    static func publish(to nuisance: Nuisance) throws -> DestinationRun {
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            if nuisance.act(peer) { peer.receiveAll() }
        }
        let run = try DestinationRun(settings(server))
        try run.wait(for: .publishing)
        for index in 0..<32 {
            let time = MediaTime.milliseconds(Int64(index))
            let priority: PacketPriority = index == 0 ? .keyframe : .reference
            run.log.write(
                PacketInfo(track: .video, pts: time, dts: time, priority: priority), payload: [1, 2, 3].span.bytes)
            try run.wait(until: "packet \(index) is out") { $0.video.packets > index }
        }
        run.stop()
        return run
    }

    private static func settings(_ server: ScriptedServer) throws -> DestinationSettings {
        let endpoint = try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live")
        var rtmp = RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y"))
        // Each server here closes as soon as it has read everything. On a busy machine it may be late.
        rtmp.closingGrace = .seconds(20)
        return DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything)
    }

    /// A slow link takes bytes all the time. The kernel reports room only when half of what it may hold has left.
    @Test func aServerThatTakesLittleAtATime() throws {
        let server = try ScriptedServer(receiveBuffer: 4096) { peer in
            peer.acceptPublisher()
            // About 10 kB a second, for longer than the client waits.
            let end = MonotonicClock().now() + .seconds(4)
            while MonotonicClock().now() < end, peer.receive() { usleep(400_000) }
            peer.receiveAll()
        }
        var settings = try Self.settings(server)
        var rtmp = try #require(settings.kind.sink as? RTMPDestinationSettings)
        rtmp.sendTimeout = .seconds(3)
        settings.kind = .rtmp(rtmp)
        let run = try DestinationRun(settings)
        try run.wait(for: .publishing)
        let start = MonotonicClock().now()
        run.log.write(
            PacketInfo(track: .video, pts: .zero, dts: .zero, priority: .keyframe),
            payload: [UInt8](repeating: 1, count: 190_000).span.bytes)
        try run.wait(until: "the keyframe is out") { $0.video.packets == 1 }
        #expect(MonotonicClock().now() - start > rtmp.sendTimeout, "it shows nothing if the kernel took it at once")
        run.stop()
        #expect(run.destination.snapshot.isDrained, "\(run.said)")
    }

    /// Single bytes do not extend the deadline, which is for the whole handshake.
    @Test func aServerThatDribblesAfterTheHandshake() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            var writer = ChunkWriter()
            writer.message(20, [UInt8](repeating: 0, count: 100))
            for byte in writer.bytes { if !peer.send([byte]) { return } else { usleep(20_000) } }
        }
        var settings = try Self.settings(server)
        var rtmp = try #require(settings.kind.sink as? RTMPDestinationSettings)
        rtmp.handshakeTimeout = .milliseconds(400)
        settings.kind = .rtmp(rtmp)
        let start = MonotonicClock().now()
        let run = try DestinationRun(settings)
        let error = try run.failure()
        #expect(error.cause == .handshakeTimeout, "\(error)")
        #expect(MonotonicClock().now() - start < .seconds(2), "a hundred bytes would have taken two seconds")
    }
}
