import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Promise: SRS with default settings accepts every connection and every file, whatever the size of the first keyframe.
///
/// Bug: a first slice of 256 to 511 bytes has the length 00 00 01 xx. SRS took that for an Annex B start code, and
/// closed the connection at the next packet.
@Suite struct FirstKeyframeTests {
    private static let sizes = 200...700

    /// One NAL unit with its length, without zero bytes in it.
    private static func unit(_ header: UInt8, bytes: Int) -> [UInt8] {
        ChunkWriter.bigEndian(bytes, 4) + [header] + [UInt8](repeating: 0xaa, count: bytes - 1)
    }

    /// The beginning of a connection or a file: two pictures, of which the first is a keyframe, and another of the same
    /// size as the first.
    private static func packets(_ size: Int) -> [(info: PacketInfo, payload: [UInt8])] {
        func video(_ ms: Int64, _ priority: PacketPriority) -> PacketInfo {
            PacketInfo(track: .video, pts: .milliseconds(ms), dts: .milliseconds(ms), priority: priority)
        }
        let audio = PacketInfo(
            track: .audio, pts: .milliseconds(21), dts: .milliseconds(21), priority: .audio)
        return [
            (video(0, .keyframe), unit(0x65, bytes: size)), (audio, [0x21, 0x10]),
            (video(33, .reference), unit(0x41, bytes: 20)), (video(66, .keyframe), unit(0x65, bytes: size)),
        ]
    }

    private static func write(_ packets: [(info: PacketInfo, payload: [UInt8])], to sink: some PublishingSink) throws {
        var buffer = PacketBuffer(limit: 4096, tailroom: FLVFileWriter.tailroom)
        for packet in packets {
            buffer.place(headroom: RTMPPublisher.headroom, byteCount: packet.payload.count)
            buffer.withPayload { $0.copyMemory(from: packet.payload, byteCount: packet.payload.count) }
            try sink.write(packet.info, &buffer)
        }
    }

    /// The messages that reached a server on its first connections, one list for each connection.
    private final class Received: Sendable {
        private let connections = Monitor<[[PublishedMessages.Message]]>([])

        func serve(_ peer: ScriptedPeer) {
            peer.acceptPublisher()
            var messages = PublishedMessages()
            messages.take(peer.receiveRest())
            connections.signal { $0.append(messages.messages) }
        }

        func wait(for count: Int) throws -> [[PublishedMessages.Message]] {
            let found = connections.wait(until: MonotonicClock().now() + .seconds(30)) {
                $0.count >= count ? $0 : nil
            }
            return try #require(found, "\(count) connections")
        }
    }

    private static func publisher(to port: UInt16) throws -> RTMPPublisher {
        RTMPPublisher(
            settings: RTMPDestinationSettings(
                endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(port)/live"), key: Secret("k3y")),
            format: .smallest, clock: MonotonicClock(),
            control: try PublishControl(clock: MonotonicClock()),
            onNotice: { _ in })
    }

    /// Checks the access units of one connection or file, also from each keyframe on, as a relay passes them on.
    private static func check(_ accessUnits: [(isKeyframe: Bool, bytes: [UInt8])], _ what: String) {
        for start in accessUnits.indices where start == 0 || accessUnits[start].isKeyframe {
            var srs = SRSFormat()
            do {
                for unit in accessUnits[start...] { try srs.take(unit.bytes) }
            } catch {
                Issue.record("\(what), from picture \(start) on: \(error)")
            }
            #expect(srs.format == .lengthPrefixed, "\(what)")
        }
    }

    private static func accessUnits(
        _ messages: [PublishedMessages.Message]
    ) -> [(isKeyframe: Bool, bytes: [UInt8])] {
        messages.compactMap { message in message.accessUnit.map { (message.body[0] >> 4 == 1, $0) } }
    }

    @Test func everySizeIsTakenOnAConnection() throws {
        let received = Received()
        let server = try ScriptedServer(clients: Self.sizes.count) { received.serve($0) }
        for size in Self.sizes {
            let publisher = try Self.publisher(to: server.port)
            try publisher.open()
            try Self.write(Self.packets(size), to: publisher)
            publisher.close()
        }
        let connections = try received.wait(for: Self.sizes.count)
        for (size, messages) in zip(Self.sizes, connections) {
            let units = Self.accessUnits(messages)
            try #require(units.count == 3)
            Self.check(units, "a first slice of \(size) bytes")
            // The encoder's output follows unchanged.
            let isWhole = units[0].bytes == [0, 0, 0, 2, 9, 0x10] + Self.unit(0x65, bytes: size)
            #expect(isWhole && units[1].bytes == Self.unit(0x41, bytes: 20), "\(size)")
        }
    }

    @Test func everySizeIsTakenInAFile() throws {
        let folder = try TemporaryDirectory("publishing")
        var settings = FLVFileSettings(path: folder.file("show.flv"))
        // Every keyframe begins a file.
        settings.rotateBytes = 1
        let writer = FLVFileWriter(
            settings: settings, format: .smallest, clock: MonotonicClock(),
            control: try PublishControl(clock: MonotonicClock()), sync: { _ throws(PublishError) in })
        try writer.open()
        for (index, size) in Self.sizes.enumerated() {
            let start = MediaTime.milliseconds(100 * Int64(index))
            let packets = Self.packets(size).prefix(3).map { packet in
                var packet = packet
                packet.info.pts += start
                packet.info.dts += start
                return packet
            }
            try Self.write(packets, to: writer)
        }
        try writer.finish(until: .zero)
        for (index, size) in Self.sizes.enumerated() {
            let path = folder.file(index == 0 ? "show.flv" : "show-\(index + 1).flv")
            let tags = try FLVRecording(path).tags.filter { $0.type == 9 && !$0.isVideoSequenceHeader }
            try #require(tags.count == 2, "\(path)")
            let units = tags.map { (isKeyframe: $0.body.first! >> 4 == 1, bytes: Array($0.body.dropFirst(5))) }
            Self.check(units, "a file whose first slice has \(size) bytes")
            let isWhole = Array(units[0].bytes.dropFirst(6)) == Self.unit(0x65, bytes: size)
            #expect(isWhole, "\(size)")
        }
    }

    /// The second connection begins with a later keyframe than the encoder's first.
    @Test func aConnectionThatFollowsABrokenOneIsTaken() throws {
        let received = Received()
        let server = try ScriptedServer(clients: 2) { peer in
            guard peer.number == 0 else { return received.serve(peer) }
            peer.acceptPublisher()
            peer.receive()
        }
        var policy = ReconnectPolicy()
        (policy.firstDelay, policy.longestDelay) = (.milliseconds(10), .milliseconds(10))
        let run = try DestinationRun(
            DestinationSettings(
                name: "main",
                kind: .rtmp(
                    RTMPDestinationSettings(
                        endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("k3y"))),
                cursorPolicy: .keepEverything),
            reconnect: policy)
        let first = Self.packets(683)[0]
        run.log.write(first.info, payload: first.payload.span.bytes)
        try run.wait(until: "the second connection") { $0.connects == 2 && $0.state == .publishing }
        for packet in Self.packets(440).dropFirst(2).reversed() {
            var info = packet.info
            info.dts = info.priority == .keyframe ? .milliseconds(1_000) : .milliseconds(1_033)
            info.pts = info.dts
            run.log.write(info, payload: packet.payload.span.bytes)
        }
        // Whether the first picture counts depends on when the server closed. A stop sends all waiting packets.
        try run.wait(until: "the second connection to have a picture") { $0.video.packets >= 2 }
        run.stop()
        let units = Self.accessUnits(try received.wait(for: 1)[0])
        try #require(units.count == 2)
        Self.check(units, "a second connection")
    }

    /// The curtain takes a keyframe back at the last moment, or sound comes first.
    @Test func aFirstPictureThatIsNoKeyframeIsTaken() throws {
        let received = Received()
        let server = try ScriptedServer { received.serve($0) }
        let publisher = try Self.publisher(to: server.port)
        try publisher.open()
        var packets = Self.packets(300)
        packets[2].payload = Self.unit(0x41, bytes: 300)
        try Self.write([packets[1], packets[2], packets[3]], to: publisher)
        publisher.close()
        let units = Self.accessUnits(try received.wait(for: 1)[0])
        try #require(units.count == 2)
        Self.check(units, "a first picture that is no keyframe")
        #expect(units[0].bytes.prefix(6) == [0, 0, 0, 2, 9, 0xf0])
    }
}
