import CaptureSources
import MediaCore
import SeededRandom
import Testing

/// Promise: a NUT stream is read with the times that it has, and what is not one ends with a sentence.
@Suite struct NUTTests {
    private static let pcm = Array("PSD".utf8) + [16]

    /// A picture of 4x2 grey each 40 ms, and 480 samples of mono each 10 ms.
    private static func film(frames: Int = 3, from start: Int = 0) -> NUTWriter {
        var writer = NUTWriter()
        writer.addVideo("Y800", 4, 2)
        writer.addAudio(pcm, 48_000, 1)
        writer.begin()
        for frame in 0..<frames {
            let ticks = start + frame * 40
            writer.syncPoint(ticks, timeBase: 0)
            writer.frame(0, ticks, [UInt8](repeating: UInt8(frame), count: 8), isWhole: false)
            for block in 0..<4 {
                writer.frame(1, ticks * 48 + block * 480, [UInt8](repeating: UInt8(block), count: 960))
            }
        }
        return writer
    }

    private static func input(_ bytes: [UInt8], piece: Int = 7, loops: Bool = false) throws -> ContainerInput {
        try ContainerInput(InputReader(MemoryInput(bytes, piece: piece)), loops: loops)
    }

    @Test(arguments: [1, 7, 100_000]) func timesAndPayloads(piece: Int) throws {
        let input = try Self.input(Self.film().bytes, piece: piece)
        // Grey of ffmpeg has full range.
        #expect(input.video?.color.range == .full)
        #expect(input.video?.width == 4 && input.video?.height == 2 && input.video?.pixelFormat == .gray)
        #expect(input.appAudio == AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16))
        #expect(input.microphone == nil && input.unsent.isEmpty)
        let samples = try ReadSample.all(input)
        #expect(samples.filter { $0.track == .video }.map(\.time) == [0, 40, 80].map { .milliseconds($0) })
        #expect(samples.filter { $0.track == .video }.map(\.first) == [0, 1, 2])
        #expect(
            samples.filter { $0.track == .appAudio }.map(\.time) == (0..<12).map { .milliseconds(Int64($0) * 10) })
        #expect(samples.filter { $0.track == .appAudio }.map(\.first) == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
        #expect(input.cutShortBytes == nil)
    }

    /// The time since 1970, as -copyts has it, in microseconds.
    @Test func timesSince1970() throws {
        var writer = NUTWriter(timeBases: [(1, 1_000_000), (1, 48_000)])
        writer.addVideo("Y800", 4, 2)
        writer.addAudio(Self.pcm, 48_000, 1)
        writer.begin()
        let start = 1_795_642_422_123_456
        writer.syncPoint(start, timeBase: 0)
        writer.frame(0, start, [UInt8](repeating: 0, count: 8), isWhole: false)
        writer.frame(1, start * 48 / 1000, [1, 2], isWhole: false)
        let samples = try ReadSample.all(Self.input(writer.bytes))
        #expect(samples[0].time == .microseconds(1_795_642_422_123_456))
        #expect((samples[1].time - samples[0].time).magnitude < .microseconds(21))
    }

    /// Bug: differences of such times did not fit 64 bits, which ended the program.
    @Test func timesThatAreTooFarOut() throws {
        var writer = NUTWriter()
        writer.addVideo("Y800", 4, 2)
        writer.begin()
        let time = 4_500_000_000_000
        writer.syncPoint(time, timeBase: 0)
        writer.frame(0, time, [UInt8](repeating: 0, count: 8), isWhole: false)
        let error = #expect(throws: InputError.self) { try ReadSample.all(Self.input(writer.bytes)) }
        #expect(error?.description.contains("a time out of range") == true)
    }

    /// The low bits of a time stand for the time that is nearest to the last one.
    @Test func shortTimes() throws {
        var writer = NUTWriter()
        writer.addVideo("Y800", 4, 2)
        writer.begin()
        let times = [0, 60, 120, 180, 130, 190, 250, 200, 260]
        for time in times { writer.frame(0, time, [UInt8](repeating: 0, count: 8), isWhole: false) }
        #expect(try ReadSample.all(Self.input(writer.bytes)).map(\.time) == times.map { .milliseconds(Int64($0)) })
    }

    /// Quiet sound may begin with the bytes that ffmpeg elides: 0, 0, 1.
    @Test func elidedHeaders() throws {
        var writer = NUTWriter(elided: [0, 0, 1])
        writer.addAudio(Self.pcm, 48_000, 1)
        writer.begin()
        writer.frame(0, 0, [0, 0, 1, 9, 8, 7])
        writer.frame(0, 3, [0, 0, 1, 5])
        // Larger frames are written whole.
        writer.frame(0, 5, [UInt8](repeating: 3, count: 4200))
        let input = try Self.input(writer.bytes)
        _ = try input.advance(into: Self.none)
        #expect(input.samples == [0, 0, 1, 9, 8, 7])
        _ = try input.advance(into: Self.none)
        #expect(input.samples == [0, 0, 1, 5])
        _ = try input.advance(into: Self.none)
        #expect(input.samples.count == 4200 && input.samples[0] == 3)
        #expect(try input.advance(into: Self.none) == nil)
    }

    private static func none(_ format: VideoSampleFormat) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// What is skipped: packets of any size, subtitles, a third audio track, headers that come again.
    @Test func whatIsSkipped() throws {
        var writer = NUTWriter()
        writer.addSubtitles()
        writer.addAudio(Self.pcm, 48_000, 2)
        writer.addAudio([16] + Array("DSP".utf8), 44_100, 1)
        writer.addAudio(Self.pcm, 8_000, 1)
        writer.begin()
        writer.info(byteCount: 300_000)
        writer.frame(0, 0, Array("hello".utf8))
        writer.frame(1, 0, [1, 0, 1, 0])
        writer.repeatStream(1)
        writer.frame(3, 0, [3, 0])
        writer.frame(2, 0, [2, 0])
        let input = try Self.input(writer.bytes)
        #expect(input.video == nil && input.appAudio?.channels == 2)
        #expect(
            input.microphone
                == AudioFormat(sampleRate: 44_100, channels: 1, encoding: .int16, isBigEndian: true))
        #expect(input.unsent.count == 2 && input.unsent[0] == "stream 0 (UTF8)")
        let samples = try ReadSample.all(input)
        #expect(samples.map(\.track) == [.appAudio, .microphone] && samples.map(\.first) == [1, 2])
    }

    /// A packet of 250 ms becomes five blocks with their times.
    @Test func largePackets() throws {
        var writer = NUTWriter()
        writer.addAudio(Self.pcm, 48_000, 2)
        writer.begin()
        writer.frame(0, 4800, [UInt8](repeating: 1, count: 12_000 * 4))
        let samples = try ReadSample.all(Self.input(writer.bytes))
        #expect(samples.map(\.time) == [100, 150, 200, 250, 300].map { .milliseconds($0) })
        #expect(samples.map(\.lead) == [0, 50, 100, 150, 200].map { .milliseconds($0) })
    }

    /// A stream that is stopped ends with what is whole.
    @Test func cutShort() throws {
        let bytes = Self.film(frames: 2).bytes
        let whole = try ReadSample.all(Self.input(bytes)).count
        let input = try Self.input(Array(bytes.dropLast(959)))
        // A byte of the last block is half a sample.
        #expect(try ReadSample.all(input).count == whole - 1 && input.cutShortBytes == 1)
        // So is a packet of which only the header has come.
        for (missing, rest) in [(0, nil), (960, 0)] {
            let input = try Self.input(Array(bytes.dropLast(missing)))
            _ = try ReadSample.all(input)
            #expect(input.cutShortBytes == rest, "\(missing)")
        }

        var writer = Self.film(frames: 1)
        writer.frame(0, 40, [1, 2, 3], size: 8)
        let cut = try Self.input(writer.bytes)
        #expect(try ReadSample.all(cut).count == 5 && cut.cutShortBytes == 3)
    }

    @Test func restarts() throws {
        let input = try Self.input(Self.film().bytes, loops: true)
        #expect(try ReadSample.restarts(40, of: input) == [15, 30])
    }

    static let formats: [(String, PixelFormat)] = [
        ("I420", .i420), ("NV12", .nv12VideoRange), ("NV21", .nv21), ("Y42B", .i422), ("444P", .i444), ("YUY2", .yuy2),
        ("UYVY", .uyvy), ("BGRA", .bgra), ("BGR\0", .bgra), ("RGBA", .rgba), ("RGB\0", .rgba), ("ARGB", .argb),
        ("\0RGB", .argb), ("ABGR", .abgr), ("\0BGR", .abgr), ("Y800", .gray),
    ]

    @Test(arguments: formats) func pixelFormats(tag: String, format: PixelFormat) throws {
        var writer = NUTWriter()
        writer.addVideo(tag, 6, 4)
        writer.begin()
        #expect(try Self.input(writer.bytes).video?.pixelFormat == format)
    }

    /// Each mistake says what to write instead.
    @Test func whatCannotBeSent() throws {
        func message(_ make: (inout NUTWriter) -> Void) -> String {
            var writer = NUTWriter()
            make(&writer)
            writer.begin()
            do { _ = try Self.input(writer.bytes) } catch { return "\(error)" }
            return ""
        }
        #expect(message { $0.addVideo("Y3\u{b}\n", 4, 2) }.contains("video of yuv420p10le cannot be sent"))
        #expect(message { $0.addVideo("\u{c}\u{0}3G", 4, 2) }.contains("video of gbrp12be cannot be sent"))
        #expect(message { $0.addVideo("Y2\u{0}\u{8}", 4, 2) }.contains("video of ya8 cannot be sent"))
        #expect(message { $0.addVideo("H264", 4, 2) }.contains("H264 cannot be sent; add -c:v rawvideo"))
        #expect(message { $0.addVideo("RGB\u{18}", 4, 2) }.contains("-pix_fmt bgr0"))
        #expect(message { $0.addVideo("RGB\u{0f}", 4, 2) }.contains("-pix_fmt nv12"))
        #expect(message { $0.addVideo("PAL\u{8}", 4, 2) }.contains("0x50414c08"))
        #expect(message { $0.addVideo("I420", 0, 2) }.contains("0x2"))
        #expect(message { $0.addAudio(Array("PUD".utf8) + [8], 48_000, 2) }.contains("-c:a pcm_s16le"))
        #expect(message { $0.addAudio(Self.pcm, 384_000, 2) }.contains("-ar 48000"))
        #expect(message { $0.addAudio(Self.pcm, 48_000, 9) }.contains("-ac 2"))
        #expect(message { $0.addSubtitles() }.contains("neither video nor audio"))
    }

    @Test func whatIsNotNUT() {
        func message(_ bytes: [UInt8]) -> String {
            do { _ = try ReadSample.all(Self.input(bytes)) } catch { return "\(error)" }
            return ""
        }
        #expect(message([]) == "the input is empty")
        let foreign = message(Array("YUV4MPEG2 W4 H2 F25:1\n".utf8))
        #expect(foreign.hasPrefix("the input is neither NUT nor Matroska; send a film with ffmpeg"))
        var later = NUTWriter()
        later.addVideo("Y800", 4, 2)
        later.begin(version: 4)
        #expect(message(later.bytes).contains("version 4"))
        var film = NUTWriter()
        film.addVideo("Y800", 4, 2)
        film.begin()
        #expect(message(film.bytes) == "")
        #expect(message(film.bytes + film.bytes).hasPrefix("another NUT stream begins"))
        #expect(!message(film.bytes + film.bytes.prefix(20)).hasPrefix("another"), "an ID that is cut off")
        #expect(message(Self.film().bytes + Array("Nonsense".utf8)).contains("no NUT stream any more"))
        var wrong = Self.film(frames: 1)
        wrong.frame(0, 40, [UInt8](repeating: 0, count: 9))
        #expect(message(wrong.bytes).contains("a picture of 9 bytes; 4x2 in GREY has 8"))
        var half = Self.film(frames: 1)
        half.frame(1, 1920, [1, 2, 3])
        #expect(message(half.bytes).contains("3 bytes of PCM"))
        var other = Self.film(frames: 1)
        other.packet(0x4e53_1140_5bf2_f9db, [0, 0, 4] + Array("Y800".utf8) + [0, 7, 1, 0, 0, 0, 8, 8, 0, 0, 0])
        #expect(message(other.bytes).contains("changes the format of a stream"))
        var huge = Self.film(frames: 1)
        huge.packet(0x4e53_1140_5bf2_f9db, [], size: 1 << 40)
        #expect(message(huge.bytes).contains("a header of 1099511627776 bytes"))
    }

    /// Promise: whatever the bytes are, reading them ends, with an error or without.
    @Test func damagedStreams() throws {
        var random = SplitMix64(drawnFor: "damaged NUT")
        let whole = Self.film(frames: 6)
        var (errors, ends) = (0, 0)
        for _ in 0..<600 {
            var bytes = whole.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                case 1: bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &random))
                case 2:
                    let at = Int.random(in: 0..<min(bytes.count, 220), using: &random)
                    bytes.insert(.random(in: 0...255, using: &random), at: at)
                default:
                    let at = whole.starts.randomElement(using: &random) ?? 0
                    if at + 12 < bytes.count { bytes[at + Int.random(in: 0..<12, using: &random)] ^= 0x80 }
                }
            }
            do {
                _ = try ReadSample.all(Self.input(bytes, piece: 64))
                ends += 1
            } catch is InputError {
                errors += 1
            }
        }
        #expect(errors > 100 && ends > 100, "\(errors) errors, \(ends) ends")
    }
}
