import CaptureSources
import MediaCore
import Testing

@Suite struct Y4MTests {
    @Test(
        arguments: [
            ("YUV4MPEG2 W320 H240 F30:1 Ip A1:1 C420jpeg", 320, 240, "30", PixelFormat.i420, nil),
            ("YUV4MPEG2 W17 H19 F30000:1001", 17, 19, "30000/1001", .i420, nil),
            ("YUV4MPEG2 H240 W320 F25:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED", 320, 240, "25", .i420, .video),
            ("YUV4MPEG2 W320 H240 F25:1 It C420paldv", 320, 240, "25", .i420, nil),
            ("YUV4MPEG2 W320 H240 F25:1 C422 XCOLORRANGE=FULL", 320, 240, "25", .i422, .full),
            ("YUV4MPEG2  W320 H240 F25:1 C444 A0:0", 320, 240, "25", .i444, nil),
            ("YUV4MPEG2 W320 H240 F0:0 Cmono", 320, 240, "", .gray, nil),
            ("YUV4MPEG2 W320 H240 F1:4294967295 Cmono", 320, 240, "", .gray, nil),
            ("YUV4MPEG2 W4096 H16 F60:1 C420p10 XYSCSS=420P10", 4096, 16, "60", .p010, nil),
        ] as [(String, Int, Int, String, PixelFormat, ColorRange?)])
    func headers(line: String, width: Int, height: Int, rate: String, format: PixelFormat, range: ColorRange?) throws {
        let header = try Y4MHeader(line: line)
        #expect(header.width == width && header.height == height && header.pixelFormat == format)
        #expect((header.rate.map { "\($0)" } ?? "") == rate && header.range == range)
        #expect(header.isTenBit == (format == .p010))
    }

    @Test(arguments: [
        ("RIFF....", "not a YUV4MPEG2"), ("", "not a YUV4MPEG2"), ("YUV4MPEG2 W320 F25:1", "no width and height"),
        ("YUV4MPEG2 W8 H240 F25:1", "8x240; 16x16 to 4096x4096"),
        ("YUV4MPEG2 W99999999999999999999 H4 F1:1", "no width"),
        ("YUV4MPEG2 W320 H4097 F25:1", "320x4097"), ("YUV4MPEG2 W320 H240 F25:1 C411", "C411 is not"),
        ("YUV4MPEG2 W320 H240 F25:1 C420p12", "pix_fmt yuv420p"),
    ])
    func refusedHeaders(line: String, says: String) {
        let error = #expect(throws: InputError.self) { try Y4MHeader(line: line) }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
    }

    private func stream(_ head: String, frames: [[UInt8]], frameLine: String = "FRAME") -> [UInt8] {
        frames.reduce(into: Array((head + "\n").utf8)) { $0 += Array((frameLine + "\n").utf8) + $1 }
    }
    private static let head = "YUV4MPEG2 W16 H16 F10:1 C420jpeg"
    private static let frames = (0..<3).map { [UInt8](repeating: UInt8($0 + 1), count: 384) }

    private func read(_ video: some VideoSource) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let frame = try video.next(Int64(frames.count)) { frames.append(frame) }
        return frames
    }

    @Test(arguments: ["FRAME", "FRAME Ip"], [1, 7, 100_000])
    func framesComeOutAsTheyWentIn(line: String, piece: Int) throws {
        let input = MemoryInput(stream(Self.head, frames: Self.frames, frameLine: line), piece: piece)
        let video = try Y4MVideo(InputReader(input))
        #expect(video.rate == FrameRate(10) && video.format.color.matrix == .bt601)
        #expect(video.format == VideoSampleFormat(packed: .i420, width: 16, height: 16, color: video.format.color))
        #expect(try read(video) == Self.frames)
    }

    /// Wherever a producer is cut off, the whole frames before it are sent and nothing of the torn one.
    @Test func truncatedStreamsEndAtTheLastWholeFrame() throws {
        let whole = stream(Self.head, frames: Self.frames)
        let headBytes = Self.head.utf8.count + 1
        for length in stride(from: 0, through: whole.count, by: 3) {
            let reader = InputReader(MemoryInput(Array(whole[..<length]), piece: 64))
            if length < headBytes {
                #expect(throws: InputError.self) { try Y4MVideo(reader) }
                continue
            }
            let video = try Y4MVideo(reader)
            let (count, rest) = (length - headBytes).quotientAndRemainder(dividingBy: 390)
            #expect(try read(video).count == count)
            // In the line that begins a frame, or behind it.
            #expect(video.cutShortBytes == (rest == 0 ? nil : rest < 6 ? rest : rest - 6))
        }
    }

    @Test func aFrameThatIsNotOneIsToldApart() throws {
        var bytes = stream(Self.head, frames: Self.frames)
        bytes[Self.head.utf8.count + 1 + 390] = 0x58
        let video = try Y4MVideo(InputReader(MemoryInput(bytes)))
        let error = #expect(throws: InputError.self) { try read(video) }
        #expect(error?.description.contains("frame 1 of the Y4M stream") == true)
    }

    @Test func aStreamWithoutARateNeedsOne() throws {
        let head = "YUV4MPEG2 W16 H16 C420"
        let empty = InputReader(MemoryInput(stream(head, frames: [])))
        #expect(throws: InputError.self) { try Y4MVideo(empty) }
        let input = MemoryInput(stream(head, frames: Self.frames))
        #expect(try Y4MVideo(InputReader(input), rate: FrameRate(5)).rate == FrameRate(5))
    }

    @Test func loopsBeginAgainWhereTheInputCan() throws {
        let incomplete = Array("FRAME\n".utf8) + [1, 2]
        for (canRewind, rest) in [(true, []), (false, []), (true, incomplete), (false, incomplete)] {
            let input = MemoryInput(stream(Self.head, frames: Self.frames) + rest, canRewind: canRewind)
            let video = try Y4MVideo(InputReader(input), loops: true)
            var count = 0
            while count < 8, let frame = try video.next(Int64(count)) {
                #expect(frame == Self.frames[count % 3])
                count += 1
            }
            #expect(count == (canRewind ? 8 : 3))
            #expect(video.cutShortBytes == (rest.isEmpty ? nil : 2))
        }
    }

    /// Planar words with ten bits below become P010: interleaved chroma, the bits above.
    @Test func tenBitsBecomeP010() throws {
        func words(_ values: [UInt16]) -> [UInt8] { values.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] } }
        let luma = (0..<256).map { UInt16($0 * 4 + 3) }
        let (blue, red) = ((0..<64).map { UInt16($0) }, (0..<64).map { UInt16(1023 - $0) })
        let head = "YUV4MPEG2 W16 H16 F10:1 C420p10"
        let input = MemoryInput(stream(head, frames: [words(luma + blue + red)]))
        let video = try Y4MVideo(InputReader(input))
        #expect(video.format.pixelFormat == .p010)
        let chroma = zip(blue, red).flatMap { [$0 << 6, $1 << 6] }
        #expect(try read(video) == [words(luma.map { $0 << 6 } + chroma)])
    }

    @Test func rawVideoHasNoHeader() throws {
        let format = VideoSampleFormat(packed: .gray, width: 16, height: 16)
        let bytes = [UInt8](repeating: 1, count: 256) + [UInt8](repeating: 2, count: 256) + [3, 3, 3]
        let video = RawVideo(InputReader(MemoryInput(bytes)), format: format, rate: FrameRate(1))
        #expect(try read(video).map { $0[255] } == [1, 2])
        #expect(video.cutShortBytes == 3)
        let loop = RawVideo(
            InputReader(MemoryInput(bytes)), format: format, rate: FrameRate(1), loops: true)
        #expect(try (0..<5).map { try loop.next($0)?[0] } == [1, 2, 1, 2, 1])
    }
}

extension VideoSource {
    /// A frame in memory of the test's.
    fileprivate func next(_ frame: Int64) throws -> [UInt8]? {
        var memory: UnsafeMutableRawBufferPointer?
        defer { memory?.deallocate() }
        let isThere = try advance(frame: frame, time: .zero, orientation: nil) { format in
            let new = UnsafeMutableRawBufferPointer.allocate(byteCount: format.minimumPayloadBytes, alignment: 64)
            memory = new
            return new
        }
        return isThere ? memory.map { Array($0) } : nil
    }
}
