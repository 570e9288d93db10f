import CaptureSources
import MediaCore
import SeededRandom
import Testing

/// Promise: a Matroska stream of raw video and PCM is read with the times that it has, and all others end with a
/// sentence.
@Suite struct MatroskaTests {
    /// A picture of 4x2 grey each 40 ms, and 480 samples of mono each 10 ms.
    private static func film(frames: Int = 3, isGroup: Bool = false) -> MatroskaWriter {
        var writer = MatroskaWriter()
        writer.addVideo("Y800", 4, 2)
        writer.addAudio(48_000, 1)
        writer.begin()
        for frame in 0..<frames {
            writer.cluster(frame * 40 + 5)
            writer.block(1, -5, [UInt8](repeating: UInt8(frame), count: 8), isGroup: isGroup)
            for block in 0..<4 {
                writer.block(2, block * 10 - 5, [UInt8](repeating: UInt8(block), count: 960), isGroup: isGroup)
            }
        }
        return writer
    }

    private static func input(_ bytes: [UInt8], piece: Int = 7, loops: Bool = false) throws -> ContainerInput {
        try ContainerInput(InputReader(MemoryInput(bytes, piece: piece)), loops: loops)
    }

    private static func message(_ bytes: [UInt8]) -> String {
        do { _ = try ReadSample.all(input(bytes)) } catch { return "\(error)" }
        return ""
    }

    @Test(arguments: [1, 7, 100_000], [false, true]) func timesAndPayloads(piece: Int, isGroup: Bool) throws {
        let input = try Self.input(Self.film(isGroup: isGroup).bytes, piece: piece)
        #expect(input.video?.width == 4 && input.video?.height == 2 && input.video?.pixelFormat == .gray)
        #expect(input.appAudio == AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16))
        #expect(input.microphone == nil && input.unsent.isEmpty && !input.knowsColors)
        let samples = try ReadSample.all(input)
        let pictures = samples.filter { $0.track == .video }
        #expect(pictures.map(\.time) == [0, 40, 80].map { .milliseconds($0) } && pictures.map(\.first) == [0, 1, 2])
        let blocks = samples.filter { $0.track == .appAudio }
        #expect(blocks.map(\.time) == (0..<12).map { .milliseconds(Int64($0) * 10) })
        #expect(blocks.map(\.first) == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
        #expect(input.cutShortBytes == nil)
    }

    @Test func otherScales() throws {
        var writer = MatroskaWriter()
        writer.addAudio(48_000, 1)
        writer.begin(scale: 1000)
        writer.cluster(2_000_000)
        writer.block(1, 250, [1, 2])
        #expect(try ReadSample.all(Self.input(writer.bytes)).map(\.time) == [.microseconds(2_000_250)])
    }

    /// What is skipped: unknown elements, subtitles, a third audio track, a track that is not described.
    @Test func whatIsSkipped() throws {
        var writer = MatroskaWriter()
        writer.addSubtitles()
        writer.addAudio(48_000, 2)
        writer.addAudio(44_100, 1, bits: 24, codec: "A_PCM/INT/BIG")
        writer.addAudio(8_000, 1)
        writer.begin()
        writer.cluster(0)
        writer.raw(0x1c53_bb6b, [UInt8](repeating: 7, count: 300_000))
        writer.block(1, 0, Array("hello".utf8))
        writer.block(2, 0, [1, 0, 1, 0])
        writer.block(9, 0, [1, 2, 3])
        writer.block(4, 0, [3, 0])
        writer.block(3, 0, [2, 0, 0])
        let input = try Self.input(writer.bytes)
        #expect(input.video == nil && input.appAudio?.channels == 2)
        #expect(
            input.microphone == AudioFormat(sampleRate: 44_100, channels: 1, encoding: .int24, isBigEndian: true))
        #expect(input.unsent == ["stream 1 (S_TEXT/UTF8)", "stream 4 (A_PCM/INT/LIT)"])
        let samples = try ReadSample.all(input)
        #expect(samples.map(\.track) == [.appAudio, .microphone] && samples.map(\.first) == [1, 2])
    }

    /// Tracks that are not sent may have any form. mkvmerge compresses subtitles.
    @Test func whatIsNotSentMayHaveAnyForm() throws {
        var writer = MatroskaWriter()
        writer.addSubtitles(more: [0x6d, 0x80, 0x80])
        writer.addAudio(48_000, 1)
        writer.addAudio(48_000, 1)
        writer.addAudio(44_100.5, 1)
        writer.begin()
        writer.repeatTracks()
        writer.cluster(0)
        writer.block(3, 0, [1, 2])
        let input = try Self.input(writer.bytes)
        #expect(input.unsent.count == 2)
        #expect(try ReadSample.all(input).map(\.track) == [.microphone])
    }

    /// mkvmerge laces PCM: the sizes of the frames are before them.
    @Test(arguments: [(0x02, [2, 255, 1, 4]), (0x04, [2]), (0x06, [2, 0x84, 0xc0])] as [(UInt8, [UInt8])])
    func lacing(kind: UInt8, sizes: [UInt8]) throws {
        var writer = MatroskaWriter()
        writer.addAudio(48_000, 1)
        writer.begin()
        writer.cluster(0)
        writer.block(1, 0, sizes + [7, 0, 8, 0, 9, 0], lacing: kind)
        let input = try Self.input(writer.bytes)
        _ = try input.advance { _ in UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        #expect(input.samples == [7, 0, 8, 0, 9, 0])
    }

    @Test func noTimeScale() {
        var writer = MatroskaWriter()
        writer.addAudio(48_000, 1)
        writer.begin(scale: 0)
        #expect(Self.message(writer.bytes).contains("the time scale 0"))
    }

    /// GStreamer pads rows to four bytes, and 4:2:0 to an even number of rows.
    @Test func paddedRows() throws {
        var writer = MatroskaWriter()
        writer.addVideo("I420", 6, 3)
        writer.begin()
        writer.cluster(0)
        writer.block(1, 0, Array(0..<32) + [40] + [UInt8](repeating: 0, count: 15))
        let input = try Self.input(writer.bytes)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { memory.deallocate() }
        var format: VideoSampleFormat?
        _ = try input.advance { wanted in
            format = wanted
            return memory
        }
        let found = try #require(format)
        #expect(found.plane0 == PlaneLocation(offset: 0, stride: 8))
        #expect(found.plane1 == PlaneLocation(offset: 32, stride: 4) && memory[32] == 40)
        #expect(found.plane2 == PlaneLocation(offset: 40, stride: 4))
        #expect(try input.advance { _ in memory } == nil && input.cutShortBytes == nil)
    }

    @Test(
        arguments: [
            ("I420", PixelFormat.i420), ("NV12", .nv12FullRange), ("YV12", .yv12), ("YUY2", .yuy2), ("UYVY", .uyvy),
        ])
    func coloursOfTheStream(fourCC: String, format: PixelFormat) throws {
        var writer = MatroskaWriter()
        writer.addVideo(fourCC, 8, 4, colour: (9, 2))
        writer.begin()
        writer.cluster(0)
        let input = try Self.input(writer.bytes)
        #expect(input.video?.pixelFormat == format && input.knowsColors)
        #expect(input.video?.color == ColorDescription(matrix: .bt2020, range: .full))
        let other = try ContainerInput(InputReader(MemoryInput(writer.bytes, piece: 7)), matrix: .bt601, range: .video)
        #expect(other.video?.color == ColorDescription(matrix: .bt601, range: .video))
    }

    /// YCgCo would be shown with wrong colours. Users can still name a matrix.
    @Test func aMatrixThatCannotBeSent() throws {
        for (number, fourCC, isSent) in [
            (0, "I420", true), (2, "I420", true), (3, "I420", true), (4, "I420", true), (5, "I420", true),
            (7, "I420", false), (8, "I420", false), (8, "BGRA", true), (8, "Y800", true), (10, "I420", false),
            (17, "I420", false), (300, "I420", true),
        ] {
            var writer = MatroskaWriter()
            writer.addVideo(fourCC, 8, 4, colour: (number, 2))
            writer.begin()
            writer.cluster(0)
            func color(_ matrix: ColorMatrix?) throws -> ColorDescription? {
                try ContainerInput(InputReader(MemoryInput(writer.bytes, piece: 7)), matrix: matrix).video?.color
            }
            if isSent {
                // Without a known matrix, small pictures have that of SD.
                #expect(try color(nil)?.matrix == .bt601)
            } else {
                let error = #expect(throws: InputError.self) { try color(nil) }
                #expect("\(try #require(error))".contains("with colour matrix \(number) of ITU-T H.273"))
            }
            #expect(try color(.bt709)?.matrix == .bt709)
        }
    }

    @Test(arguments: [(1, nil), (16, "PQ"), (18, "HLG")] as [(Int, String?)])
    func hdr(transfer: Int, name: String?) throws {
        var writer = MatroskaWriter()
        writer.addVideo("I420", 8, 4, colour: (9, 1), transfer: transfer)
        writer.begin()
        writer.cluster(0)
        #expect(try ContainerInput(InputReader(MemoryInput(writer.bytes, piece: 7))).hdr == name)
    }

    /// Each mistake says what to write instead.
    @Test func whatCannotBeSent() {
        func message(_ make: (inout MatroskaWriter) -> Void) -> String {
            var writer = MatroskaWriter()
            make(&writer)
            writer.begin()
            writer.cluster(0)
            return Self.message(writer.bytes)
        }
        #expect(message { $0.addVideo("", 4, 2, codec: "V_MPEG4/ISO/AVC") }.contains("ffmpeg -i FILE -c:v rawvideo"))
        #expect(message { $0.addVideo("AYUV", 4, 2) }.contains("raw video of AYUV cannot be sent; add -pix_fmt"))
        #expect(message { $0.addVideo("I420", 0, 2) }.contains("Matroska stream has video of 0x2"))
        #expect(message { $0.addAudio(48_000, 2, bits: 8) }.contains("A_PCM/INT/LIT with 8 bits cannot be sent"))
        #expect(message { $0.addAudio(48_000, 2, bits: 0, codec: "A_OPUS") }.contains("audio of A_OPUS cannot be sent"))
        #expect(message { $0.addAudio(44_100.5, 2) }.contains("44100.5 Hz"))
        #expect(message { $0.addAudio(.infinity, 2) }.contains("inf Hz"))
        #expect(message { $0.addAudio(48_000, 9) }.contains("-ac 2"))
        #expect(message { $0.addVideo("I420", 4, 2, more: [0x6d, 0x80, 0x80]) }.contains("has ContentEncodings"))
        #expect(message { $0.addVideo("\u{1b}[31", 4, 2) }.contains("raw video of ?[31 cannot"))
        #expect(message { $0.addVideo("", 4, 2) }.contains("raw video of no FourCC cannot"))
        #expect(message { $0.addAudio(48_000, 2, codec: "A_\u{1b}]0;x\u{7}") }.contains("audio of A_?]0;x? with"))
        #expect(message { $0.addSubtitles() }.contains("neither video nor audio"))
        #expect(message { _ in }.contains("before its tracks"))
        #expect(message { $0.addAudio(48_000, 2, number: 0) }.contains("of number 0"))
        #expect(message { $0.addAudio(48_000, 2, number: 3)
            $0.addAudio(48_000, 2, number: 3)
        }.contains("of number 3"))
    }

    @Test func whatIsNotMatroska() {
        #expect(Self.message([0x1a, 0x45, 0xdf, 0xa3]).contains("ends inside an element"))
        #expect(Self.message(Array(Self.film().bytes.prefix(90))).contains("ends"))
        #expect(Self.message(Self.film().bytes + Self.film().bytes).hasPrefix("another Matroska stream begins"))
        #expect(Self.message(Self.film().bytes + [0]).contains("no Matroska stream any more"))
        var laced = Self.film(frames: 1)
        laced.block(1, 40, [0xff, 0xff], lacing: 0x02)
        #expect(Self.message(laced.bytes).contains("lacing"))
        var wrong = Self.film(frames: 1)
        wrong.block(1, 40, [UInt8](repeating: 0, count: 9))
        #expect(Self.message(wrong.bytes).contains("the Matroska stream has a picture of 9 bytes; 4x2 in GREY has 8"))
        var half = Self.film(frames: 1)
        half.block(2, 40, [1, 2, 3])
        #expect(Self.message(half.bytes).contains("3 bytes of PCM"))
        var short = Self.film(frames: 1)
        short.raw(0xa3, [0x40, 0x01, 0, 0])
        #expect(Self.message(short.bytes + [0, 0]).contains("a block that is too short"))
        var none = Self.film(frames: 1)
        none.raw(0xa3, [])
        #expect(Self.message(none.bytes).contains("a block that is too short"))
        var late = Self.film(frames: 1)
        late.raw(0xe7, [0xff, 0, 0, 0, 0, 0, 0, 0])
        late.block(2, 0, [1, 2])
        #expect(Self.message(late.bytes).contains("a time out of range"))
    }

    /// A stream that is stopped ends with what is whole.
    @Test func cutShort() throws {
        let bytes = Self.film(frames: 2).bytes
        let whole = try ReadSample.all(Self.input(bytes)).count
        let input = try Self.input(Array(bytes.dropLast(959)))
        #expect(try ReadSample.all(input).count == whole - 1 && input.cutShortBytes == 1)
        let other = try Self.input(Array(bytes.dropLast(960)))
        #expect(try ReadSample.all(other).count == whole - 1 && other.cutShortBytes == 0)
    }

    /// The header of a file says how long it is. It may end between two frames.
    @Test(arguments: [0, 1, 980]) func cutBetweenFrames(missing: Int) throws {
        var writer = Self.film(frames: 2)
        writer.setSegmentSize(more: missing)
        let input = try Self.input(writer.bytes)
        #expect(try ReadSample.all(input).count == 10 && input.cutShortBytes == (missing > 0 ? 0 : nil))
    }

    @Test func restarts() throws {
        let input = try Self.input(Self.film().bytes, loops: true)
        #expect(try ReadSample.restarts(40, of: input) == [15, 30])
    }

    /// Promise: whatever the bytes are, reading them ends, with an error or without.
    @Test func damagedStreams() throws {
        var random = SplitMix64(drawnFor: "damaged Matroska")
        let whole = Self.film(frames: 6).bytes
        var (errors, ends) = (0, 0)
        for _ in 0..<600 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                case 1: bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &random))
                default:
                    let at = Int.random(in: 0..<min(bytes.count, 260), using: &random)
                    bytes[at] = .random(in: 0...255, using: &random)
                }
            }
            do {
                _ = try ReadSample.all(Self.input(bytes))
                ends += 1
            } catch is InputError {
                errors += 1
            }
        }
        #expect(errors > 50 && ends > 50, "\(errors) errors, \(ends) ends")
    }
}
