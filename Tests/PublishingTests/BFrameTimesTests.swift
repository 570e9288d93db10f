import Buffering
import Endpoints
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Promise: with B-frames, whose first decode times are negative, players show every picture at its own time.
@Suite struct BFrameTimesTests {
    /// libx264's output with two B-frames at 30 frames a second, in milliseconds.
    private static let frames: [(dts: Int64, pts: Int64)] = [
        (-67, 0), (-33, 100), (0, 33), (33, 67), (67, 200), (100, 133), (133, 167),
    ]

    private static func write(to sink: some PublishingSink, offset: MediaTime) throws {
        var buffer = PacketBuffer(limit: 4096, tailroom: FLVFileWriter.tailroom)
        for (index, frame) in frames.enumerated() {
            let payload: [UInt8] = [0, 0, 0, 2, index == 0 ? 0x65 : 0x41, 0xaa]
            buffer.place(headroom: RTMPPublisher.headroom, byteCount: payload.count)
            buffer.withPayload { $0.copyMemory(from: payload, byteCount: payload.count) }
            let info = PacketInfo(
                track: .video, pts: .milliseconds(frame.pts) + offset, dts: .milliseconds(frame.dts) + offset,
                priority: index == 0 ? .keyframe : .reference)
            try sink.write(info, &buffer)
        }
    }

    @Test func onAConnection() throws {
        let messages = Monitor<[PublishedMessages.Message]?>(nil)
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            var published = PublishedMessages()
            published.take(peer.receiveRest())
            let all = published.messages
            messages.signal { $0 = all }
        }
        let publisher = RTMPPublisher(
            settings: RTMPDestinationSettings(
                endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("k3y")),
            format: .smallest, clock: MonotonicClock(),
            control: try PublishControl(clock: MonotonicClock()),
            onNotice: { _ in })
        try publisher.open()
        try Self.write(to: publisher, offset: .zero)
        publisher.close()
        let all = try #require(messages.wait(until: MonotonicClock().now() + .seconds(30)) { $0 }, "no messages")
        let shown = all.filter { $0.accessUnit != nil }.map { message in
            let composition = message.body[2...4].reduce(0) { $0 << 8 | Int64($1) }
            return Int64(message.timestamp) + composition
        }
        #expect(shown == Self.frames.map(\.pts))
    }

    /// The file's zero is the first picture's presentation time, not its decode time.
    @Test func inAFile() throws {
        let folder = try TemporaryDirectory("publishing")
        let writer = FLVFileWriter(
            settings: FLVFileSettings(path: folder.file("show.flv")), format: .smallest,
            clock: MonotonicClock(), control: try PublishControl(clock: MonotonicClock()),
            sync: { _ throws(PublishError) in })
        try writer.open()
        try Self.write(to: writer, offset: .seconds(10))
        try writer.finish(until: .zero)
        let packets = try FLVPackets(folder.bytes(of: "show.flv")).video
        let shown = packets.map { Int64($0.timestamp) + Int64($0.compositionTime) }
        #expect(shown == Self.frames.map(\.pts))
    }
}
