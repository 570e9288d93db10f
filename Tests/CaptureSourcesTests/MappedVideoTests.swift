@testable import CaptureSources
import Foundation
import Glibc
import MediaCore
import TestSupport
import Testing

/// Raw frames are sent from where the kernel keeps the file, whatever becomes of it meanwhile.
@Suite struct MappedVideoTests {
    /// 4096 pixels: a page each.
    private static let format = VideoSampleFormat(packed: .gray, width: 64, height: 64)
    private static let frameBytes = 64 * 64

    /// A file that is gone with the test.
    private final class File {
        private let folder: TemporaryDirectory
        var path: String { folder.file("frames") }
        init(_ bytes: [UInt8]) throws {
            folder = try TemporaryDirectory("mapped")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }
        func cut(to size: Int) { #expect(truncate(path, size) == 0) }
        func append(_ bytes: [UInt8]) throws {
            let handle = try #require(FileHandle(forWritingAtPath: path))
            handle.seekToEndOfFile()
            handle.write(Data(bytes))
        }
    }

    private static func frames(_ numbers: ClosedRange<UInt8>, and rest: Int = 0) -> [UInt8] {
        numbers.flatMap { [UInt8](repeating: $0, count: frameBytes) } + [UInt8](repeating: 99, count: rest)
    }

    private static func video(_ file: File, loops: Bool = false) throws -> MappedVideo {
        let input = try FileInput(path: file.path, stop: StopSignal())
        #expect(input.isMappable && !input.isLive)
        return MappedVideo(input, format: format, rate: FrameRate(1), loops: loops)
    }

    /// The next frame's number, which all its bytes have; nil at the end.
    private static func next(_ video: MappedVideo, _ frame: Int64) throws -> UInt8? {
        let isThere = try video.advance(frame: frame, time: .zero, orientation: nil) { _ in
            throw InputError("memory was asked for")
        }
        guard isThere else { return nil }
        let picture = try #require(video.borrowed)
        #expect(picture.format == format && picture.bytes.count == frameBytes)
        let first = picture.bytes[0]
        #expect(picture.bytes.allSatisfy { $0 == first })
        try picture.checkRead()
        return first
    }

    @Test func framesLieInTheFile() throws {
        let file = try File(Self.frames(1...3, and: 100))
        let video = try Self.video(file)
        #expect(try (0..<4).map { try Self.next(video, $0) } == [1, 2, 3, nil])
        #expect(video.cutShortBytes == 100 && video.borrowed == nil)
    }

    @Test func aLoopBeginsAgain() throws {
        let file = try File(Self.frames(1...2, and: 5))
        let video = try Self.video(file, loops: true)
        #expect(try (0..<5).map { try Self.next(video, $0) } == [1, 2, 1, 2, 1])
        #expect(try Self.next(Self.video(File([]), loops: true), 0) == nil, "nothing to begin again with")
        #expect(try Self.next(Self.video(File([1, 2]), loops: true), 0) == nil)
    }

    @Test func aFileMayGrowWhileItIsSent() throws {
        let file = try File(Self.frames(1...1, and: 7))
        let video = try Self.video(file)
        #expect(try Self.next(video, 0) == 1)
        file.cut(to: Self.frameBytes)
        try file.append(Self.frames(2...3))
        // Its end was overwritten: it has become no shorter.
        #expect(try (1..<4).map { try Self.next(video, $0) } == [2, 3, nil])
        #expect(video.cutShortBytes == nil)
    }

    /// Between two frames: what is left is sent. Sending half of a video is no success.
    @Test(arguments: [2 * 64 * 64 + 10, 2 * 64 * 64]) func aFileMayLoseItsEnd(size: Int) throws {
        let file = try File(Self.frames(1...9))
        let video = try Self.video(file)
        #expect(try Self.next(video, 0) == 1)
        file.cut(to: size)
        #expect(try Self.next(video, 1) == 2)
        #expect(throws: InputError.self) { try Self.next(video, 2) }
    }

    /// Behind the frame that was sent last.
    @Test func aFileMayLoseWhatWasSent() throws {
        let file = try File(Self.frames(1...3))
        let video = try Self.video(file)
        #expect(try (0..<3).map { try Self.next(video, $0) } == [1, 2, 3])
        file.cut(to: 10)
        #expect(throws: InputError.self) { try Self.next(video, 3) }
    }

    /// Within a frame: the read goes on, and the frame is not to be used. Without a handler this ends the process.
    @Test func aFrameThatIsLostWhileItIsReadIsAnError() throws {
        let file = try File(Self.frames(1...9))
        let video = try Self.video(file)
        _ = try video.advance(frame: 0, time: .zero, orientation: nil) { _ in throw InputError("memory") }
        let picture = try #require(video.borrowed)
        #expect(picture.bytes[0] == 1)
        try picture.checkRead()
        file.cut(to: 0)
        #expect(picture.bytes.reduce(0) { $0 + Int($1) } == 0, "what is gone is read as zeros")
        #expect(throws: InputError.self) { try picture.checkRead() }
        // Another file's mapping knows nothing of it.
        #expect(try Self.next(Self.video(File(Self.frames(4...4))), 0) == 4)
    }

    /// A mapping that has lost pages gives its place to another.
    @Test func mappingsComeAndGo() throws {
        for _ in 0..<20 {
            let file = try File(Self.frames(5...6))
            let video = try Self.video(file)
            _ = try video.advance(frame: 0, time: .zero, orientation: nil) { _ in throw InputError("memory") }
            file.cut(to: 0)
            let picture = try #require(video.borrowed)
            #expect(picture.bytes[0] == 0)
            #expect(throws: InputError.self) { try picture.checkRead() }
        }
        #expect(try Self.next(Self.video(File(Self.frames(8...8))), 0) == 8)
    }

    @Test func pipesAreRead() throws {
        let folder = try TemporaryDirectory("mapped")
        let path = folder.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(try !FileInput(path: path, stop: StopSignal()).isMappable)
        #expect(try !FileInput(path: "-", stop: StopSignal()).isMappable, "its beginning may have been read by others")
    }
}
