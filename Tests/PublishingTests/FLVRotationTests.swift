import Buffering
import FLV
import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Recording into a sequence of files: nothing is lost between two files, and each one plays alone.
@Suite struct FLVRotationTests {
    private static func writer(
        _ settings: FLVFileSettings, _ format: BroadcastFormat, clock: any TimeSource = MonotonicClock(),
        sync: @escaping (OutputFile) throws(PublishError) -> Void = { _ throws(PublishError) in }
    ) throws -> FLVFileWriter {
        FLVFileWriter(
            settings: settings, format: format, clock: clock, control: try PublishControl(clock: clock), sync: sync)
    }

    private static func write(_ packet: FLVPackets.Packet, to writer: FLVFileWriter) throws {
        var buffer = PacketBuffer(limit: 1 << 20, tailroom: FLVFileWriter.tailroom)
        buffer.place(headroom: FLVFileWriter.headroom, byteCount: packet.payload.count)
        buffer.withPayload { $0.copyMemory(from: packet.payload, byteCount: packet.payload.count) }
        let time = MediaTime.milliseconds(Int64(packet.timestamp))
        let priority: PacketPriority = packet.track == .audio ? .audio : packet.isKeyframe ? .keyframe : .reference
        let pts = time + .milliseconds(Int64(packet.compositionTime))
        try writer.write(PacketInfo(track: packet.track, pts: pts, dts: time, priority: priority), &buffer)
    }

    /// The fixture's packets in order of arrival: audio some time after the video of its time.
    private static func lateAudio(_ fixture: FLVFixture) -> [FLVPackets.Packet] {
        fixture.recording.packets.enumerated().sorted { a, b in
            func arrival(_ packet: FLVPackets.Packet) -> Int {
                Int(packet.timestamp) + (packet.track == .audio ? 120 : 0)
            }
            return (arrival(a.element), a.offset) < (arrival(b.element), b.offset)
        }.map(\.element)
    }

    /// Expects that one file has exactly the packets from `start` to `end` (ms), from time zero on.
    private func check(
        _ folder: TemporaryDirectory, _ name: String, _ fixture: FLVFixture, _ range: Range<UInt32>
    ) throws {
        let bytes = try folder.bytes(of: name)
        let recording = try FLVPackets(bytes)
        func expected(_ packets: [FLVPackets.Packet]) -> [FLVPackets.Packet] {
            packets.filter { range.contains($0.timestamp) }.map {
                var packet = $0
                packet.timestamp -= range.lowerBound
                return packet
            }
        }
        #expect(recording.video == expected(fixture.recording.video), "\(name)")
        #expect(recording.audio == expected(fixture.recording.audio), "\(name)")
        #expect(recording.packets.first?.isKeyframe == true && recording.packets.first?.timestamp == 0)
        #expect(recording.decoderConfiguration == fixture.recording.decoderConfiguration)
        #expect(recording.audioSpecificConfig == fixture.recording.audioSpecificConfig)
        let metadata = try #require(recording.metadata.last)
        #expect(metadata["fileSize"] == .number(Double(bytes.count)))
        let end = min(range.upperBound, 4000)
        let duration = try #require(metadata["duration"]?.numberValue)
        #expect(abs(duration - Double(end - range.lowerBound) / 1000) < 0.1, "\(duration) s")
        #expect(try decodingErrors(folder.file(name)) == "")
    }

    private static func settings(_ path: String, _ change: (inout FLVFileSettings) -> Void) -> FLVFileSettings {
        var settings = FLVFileSettings(path: path)
        change(&settings)
        return settings
    }

    struct Rule: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout FLVFileSettings) -> Void
    }
    static let rules = [
        Rule(testDescription: "time") { $0.rotateAfter = .milliseconds(500) },
        Rule(testDescription: "size") { $0.rotateBytes = 10_000 },
        Rule(testDescription: "whichever comes first") {
            $0.rotateAfter = .seconds(3600)
            $0.rotateBytes = 10_000
        },
    ]

    /// The fixture has keyframes at 0 and 2 s. Audio of the first file comes after the second file has begun.
    @Test(arguments: rules) func aNewFileBeginsWithTheNextKeyframe(rule: Rule) throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        let writer = try Self.writer(Self.settings(folder.file("show.flv"), rule.change), fixture.format)
        try writer.open()
        for packet in Self.lateAudio(fixture) { try Self.write(packet, to: writer) }
        #expect(writer.progress.location == folder.file("show-2.flv"))
        try writer.finish(until: .zero)
        try check(folder, "show.flv", fixture, 0..<2000)
        try check(folder, "show-2.flv", fixture, 2000..<10_000)
        let sizes = try ["show.flv", "show-2.flv"].map { try folder.bytes(of: $0).count }
        #expect(writer.progress.bytesSent == UInt64(sizes[0] + sizes[1]))
    }

    @Test func withoutARuleThereIsOneFile() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        let writer = try Self.writer(FLVFileSettings(path: folder.file("show.flv")), fixture.format)
        try writer.open()
        for packet in Self.lateAudio(fixture) { try Self.write(packet, to: writer) }
        try writer.finish(until: .zero)
        try check(folder, "show.flv", fixture, 0..<10_000)
        #expect(throws: (any Error).self) { try folder.bytes(of: "show-2.flv") }
    }

    /// Both files are complete if the destination is dropped while audio for the first one may still come.
    @Test func anEndInBetweenCompletesBoth() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        let writer = try Self.writer(
            Self.settings(folder.file("show.flv")) { $0.rotateBytes = 1 }, fixture.format)
        try writer.open()
        let packets = Self.lateAudio(fixture)
        let second = try #require(packets.lastIndex { $0.isKeyframe })
        for packet in packets[...second] { try Self.write(packet, to: writer) }
        writer.close()
        for name in ["show.flv", "show-2.flv"] {
            let bytes = try folder.bytes(of: name)
            let metadata = try #require(try FLVPackets(bytes).metadata.last)
            #expect(metadata["fileSize"] == .number(Double(bytes.count)))
            #expect(try #require(metadata["duration"]?.numberValue) > 0)
        }
        #expect(try FLVPackets(folder.bytes(of: "show-2.flv")).packets.count == 1)
    }

    @Test func numbersGoOnWhereOthersWere() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        for name in ["show.flv", "show-3.flv"] { try folder.write("precious", to: name) }
        let writer = try Self.writer(Self.settings(folder.file("show.flv")) { $0.rotateBytes = 1 }, fixture.format)
        try writer.open()
        for packet in Self.lateAudio(fixture) { try Self.write(packet, to: writer) }
        try writer.finish(until: .zero)
        try check(folder, "show-2.flv", fixture, 0..<2000)
        try check(folder, "show-4.flv", fixture, 2000..<10_000)
        #expect(try folder.bytes(of: "show-3.flv") == Array("precious".utf8))
    }

    /// A pipe cannot seek back to its beginning, so it gets everything.
    @Test func aPipeIsNotRotated() throws {
        let folder = try TemporaryDirectory("publishing")
        let path = folder.file("pipe.flv")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = try OwnedDescriptor(checking: open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
        let writer = try Self.writer(Self.settings(path) { $0.rotateBytes = 1 }, .smallest)
        try writer.open()
        for time: UInt32 in [0, 40, 80] {
            let packet = FLVPackets.Packet(
                track: .video, timestamp: time, compositionTime: 0, isKeyframe: true, payload: [1, 2, 3])
            try Self.write(packet, to: writer)
        }
        try writer.finish(until: .zero)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(reader.raw, &bytes, bytes.count)
        #expect(try FLVPackets(Array(bytes.prefix(max(0, count)))).packets.map(\.timestamp) == [0, 40, 80])
    }

    @Test func filesAreForcedToTheDiskAsAsked() throws {
        func syncs(_ policy: FLVFileSettings.FileSync) throws -> [String] {
            let folder = try TemporaryDirectory("publishing")
            let clock = ManualClock()
            var synced: [String] = []
            let writer = try Self.writer(
                Self.settings(folder.file("a.flv")) {
                    $0.sync = policy
                    $0.rotateBytes = 1
                }, .smallest, clock: clock,
                sync: { file in synced.append(String(file.path.dropFirst(folder.path.utf8.count + 1))) })
            try writer.open()
            for second: UInt32 in 0..<6 {
                let packet = FLVPackets.Packet(
                    track: .video, timestamp: second * 1000, compositionTime: 0, isKeyframe: second == 4, payload: [1])
                try Self.write(packet, to: writer)
                try writer.service()
                clock.advance(by: .seconds(1))
            }
            try writer.finish(until: .zero)
            return synced
        }
        #expect(try syncs(.never) == [])
        #expect(try syncs(.atSegmentEnd) == ["a.flv", "a-2.flv"])
        // At 2 s. The next file ends before its own two seconds have passed.
        #expect(try syncs(.every(.seconds(2))) == ["a.flv", "a.flv", "a-2.flv"])
    }

    @Test func aFileReachesTheDisk() throws {
        let folder = try TemporaryDirectory("publishing")
        let file = try OutputFile(creating: folder.file("show.flv"))
        try file.sync()
        file.syncFolder()
        let null = try OutputFile(creating: "/dev/null")
        try null.sync()
        null.remove()
        #expect(file.isRegular && !null.isRegular && access("/dev/null", F_OK) == 0)
        file.remove()
        #expect(access(folder.file("show.flv"), F_OK) != 0)
    }

    /// A small file system at a folder, mounted during its lifetime.
    private final class SmallDisk {
        let folder: TemporaryDirectory

        init() throws {
            folder = try TemporaryDirectory("publishing")
            guard mount("none", folder.path, "tmpfs", 0, "size=200k") == 0 else { throw Errno.current }
        }
        deinit { umount2(folder.path, CInt(MNT_DETACH)) }

        static let isPossible = (try? SmallDisk()) != nil
    }

    /// The file system is full. The file is completed with its last whole tag, and the error says what happened. The
    /// next attempt leaves no empty file.
    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root")) func theDiskIsFull() throws {
        let fixture = try FLVFixture.shared.get()
        let disk = try SmallDisk()
        let folder = disk.folder
        let path = folder.file("show.flv")
        func attempt() throws -> PublishError? {
            let writer = try Self.writer(FLVFileSettings(path: path), fixture.format)
            defer { writer.close() }
            do {
                try writer.open()
                for packet in fixture.recording.packets { try Self.write(packet, to: writer) }
            } catch let error as PublishError {
                return error
            }
            return nil
        }
        #expect(try attempt() == PublishError(.file, "cannot write to \(path): No space left on device"))
        let bytes = try folder.bytes(of: "show.flv")
        let recording = try FLVPackets(bytes)
        #expect(recording.packets == Array(fixture.recording.packets.prefix(recording.packets.count)))
        #expect(recording.packets.count > 10 && bytes.count > 100_000 && bytes.count <= 200 << 10)
        #expect(recording.metadata.last?["fileSize"] == .number(Double(bytes.count)))
        #expect(try #require(recording.metadata.last?["duration"]?.numberValue) > 0.3)
        #expect(try decodingErrors(path) == "")

        // Now there is no page left for another header.
        let filler = try OwnedDescriptor(checking: open(folder.file("filler"), O_WRONLY | O_CREAT, 0o600))
        while Glibc.write(filler.raw, [0], 1) == 1 {}
        let second = folder.file("show-2.flv")
        #expect(try attempt() == PublishError(.file, "cannot write to \(second): No space left on device"))
        #expect(access(second, F_OK) != 0)
    }
}
