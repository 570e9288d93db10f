import Buffering
import FLV
import Foundation
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

@Suite struct FLVFileWriterTests {
    private func settings(_ path: String) -> DestinationSettings {
        DestinationSettings(name: "file", kind: .flvFile(FLVFileSettings(path: path)))
    }

    @Test func theFileHoldsEverythingStartsAtZeroAndDecodes() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        let run = try DestinationRun(settings(folder.file("show.flv")), log: FLVFixture.log(), format: fixture.format)
        try run.feed(fixture, offset: .seconds(100))
        run.stop()

        let bytes = try folder.bytes(of: "show.flv")
        let recording = try FLVPackets(bytes)
        #expect(recording.packets == fixture.recording.packets)
        #expect(recording.decoderConfiguration == fixture.recording.decoderConfiguration)
        #expect(recording.audioSpecificConfig == fixture.recording.audioSpecificConfig)
        #expect(recording.metadata.first == .string("onMetaData"))
        let metadata = try #require(recording.metadata.last)
        #expect(metadata["fileSize"] == .number(Double(bytes.count)))
        let duration = try #require(metadata["duration"]?.numberValue)
        #expect(abs(duration - 4) < 0.1)
        #expect(metadata["width"] == .number(320) && metadata["height"] == .number(240))
        #expect(try decodingErrors(folder.file("show.flv")) == "")

        let snapshot = run.destination.snapshot
        #expect(!snapshot.isServer && snapshot.location == folder.file("show.flv") && snapshot.isDrained)
        #expect(snapshot.bytesSent == UInt64(bytes.count) && snapshot.bytesAcknowledged == nil)
    }

    @Test func anExistingFileIsLeftAlone() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        try folder.write("precious", to: "show.flv")
        for _ in 0..<2 {
            let log = FLVFixture.log()
            fixture.write(0..<20, to: log)
            let run = try DestinationRun(settings(folder.file("show.flv")), log: log, format: fixture.format)
            run.stop()
        }
        #expect(try folder.bytes(of: "show.flv") == Array("precious".utf8))
        #expect(try FLVPackets(folder.bytes(of: "show-2.flv")).packets == Array(fixture.recording.packets[..<20]))
        #expect(try FLVPackets(folder.bytes(of: "show-3.flv")).packets.count == 20)
    }

    @Test(arguments: [("a/b.c/show.flv", "a/b.c/show-2.flv"), ("a/b.c/show", "a/b.c/show-2"), (".flv", ".flv-2")])
    func numbersGoBeforeTheExtension(path: String, numbered: String) {
        #expect(OutputFile.numbered(path, 2) == numbered)
    }

    @Test func failuresAreSentences() throws {
        let folder = try TemporaryDirectory("publishing")
        let format = BroadcastFormat.smallest
        let missing = try DestinationRun(settings(folder.file("none/show.flv")), log: FLVFixture.log(), format: format)
        #expect(try missing.failure().description == """
            "file" (\(folder.file("none/show.flv"))): cannot create \(folder.file("none/show.flv")): \
            No such file or directory; nothing more is published there
            """)
        let directory = try DestinationRun(settings(folder.path), log: FLVFixture.log(), format: format)
        #expect(try directory.failure().detail == "\(folder.path) exists and is not a file; it was left alone")
        let full = try DestinationRun(settings("/dev/full"), log: FLVFixture.log(), format: format)
        #expect(try full.failure().detail == "cannot write to /dev/full: No space left on device")
    }

    /// If the reader of a pipe goes away, only this destination must fail, not the process.
    @Test func aPipeWhoseReaderLeaves() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        let path = folder.file("pipe.flv")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        let log = FLVFixture.log()
        let run = try DestinationRun(settings(path), log: log, format: fixture.format)
        fixture.write(0..<10, to: log)
        try run.wait(until: "packets were written") { $0.video.packets > 0 }
        close(reader)
        fixture.write(10..<40, to: log)
        let error = try run.failure()
        #expect(error.cause == .file && error.detail == "cannot write to \(path): Broken pipe", "\(error)")
    }
}
