import CaptureSources
import MediaCore
import Testing

@Suite struct WAVTests {
    private static func u16(_ value: Int) -> [UInt8] { [UInt8(value & 0xff), UInt8(value >> 8 & 0xff)] }
    private static func u32(_ value: Int) -> [UInt8] { u16(value & 0xffff) + u16(value >> 16) }
    private static func chunk(_ name: String, _ body: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + u32(size ?? body.count) + body + (body.count % 2 == 1 ? [0] : [])
    }

    private static func format(
        tag: Int, channels: Int = 2, rate: Int = 48_000, bits: Int, block: Int? = nil, extensible: Int? = nil,
        valid: Int? = nil
    ) -> [UInt8] {
        let block = block ?? channels * bits / 8
        var body = u16(tag) + u16(channels) + u32(rate) + u32(rate * block) + u16(block) + u16(bits)
        if let extensible {
            // The sub-format's GUID after its first two bytes is the same for all.
            body += u16(22) + u16(valid ?? bits) + u32(3) + u16(extensible)
            body += [0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113]
        }
        return chunk("fmt ", body)
    }

    private static func wav(_ chunks: [UInt8]..., name: String = "RIFF") -> [UInt8] {
        let body = Array("WAVE".utf8) + chunks.flatMap { $0 }
        return Array(name.utf8) + u32(body.count) + body
    }

    private func header(_ bytes: [UInt8]) throws -> WAVHeader { try WAVHeader(InputReader(MemoryInput(bytes))) }

    @Test(arguments: [
        (format(tag: 1, bits: 16), PCMEncoding.int16, 2, 48_000),
        (format(tag: 1, channels: 1, bits: 24), .int24, 1, 48_000),
        (format(tag: 1, channels: 8, rate: 192_000, bits: 32), .int32, 8, 192_000),
        (format(tag: 3, rate: 8_000, bits: 32), .float32, 2, 8_000),
        (format(tag: 0xfffe, bits: 24, extensible: 1), .int24, 2, 48_000),
        (format(tag: 0xfffe, bits: 32, extensible: 3), .float32, 2, 48_000),
    ])
    func formats(chunk: [UInt8], encoding: PCMEncoding, channels: Int, rate: Int) throws {
        // Chunks before the samples are passed over, odd ones with their padding.
        let bytes = Self.wav(
            Self.chunk("JUNK", [1, 2, 3]), chunk, Self.chunk("LIST", [UInt8](repeating: 9, count: 26)),
            Self.chunk("data", [UInt8](repeating: 5, count: 48)))
        let header = try header(bytes)
        #expect(header.format == AudioFormat(sampleRate: rate, channels: channels, encoding: encoding))
        #expect(header.dataBytes == 48)
    }

    @Test(arguments: [
        (wav(format(tag: 1, bits: 8), chunk("data", [])), "format 1 with 8 bits"),
        (wav(format(tag: 3, bits: 64), chunk("data", [])), "format 3 with 64 bits"),
        (wav(format(tag: 85, bits: 16), chunk("data", [])), "format 85"),
        (wav(format(tag: 0xfffe, bits: 32, extensible: 1, valid: 24), chunk("data", [])), "24 valid bits of 32"),
        (wav(chunk("fmt ", [0xfe, 0xff] + [UInt8](repeating: 2, count: 16))), "cut short"),
        (wav(format(tag: 1, channels: 0, bits: 16)), "0 channels"),
        (wav(format(tag: 1, channels: 9, bits: 16)), "9 channels"),
        (wav(format(tag: 1, rate: 4000, bits: 16)), "4000 Hz"),
        (wav(format(tag: 1, bits: 16, block: 3)), "3 bytes a frame"),
        (wav(chunk("data", [1, 2])), "before their format"),
        (wav(format(tag: 1, bits: 16)), "before its samples begin"),
        (wav(chunk("fmt ", [1, 0])), "2 bytes; 16 to 256"), (wav(chunk("fmt ", [], size: 1 << 30)), "1073741824 bytes"),
        (Array("RIFX....WAVE".utf8), "no RIFF/WAVE"), ([], "no RIFF/WAVE"),
    ])
    func refused(bytes: [UInt8], says: String) {
        let error = #expect(throws: InputError.self) { try header(bytes) }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
    }

    @Test func everyTruncationIsRefusedOrEmpty() {
        let bytes = Self.wav(Self.format(tag: 1, bits: 16), Self.chunk("data", [1, 2, 3, 4]))
        for length in 0..<(bytes.count - 4) {
            #expect(throws: InputError.self) { try header(Array(bytes[..<length])) }
        }
    }

    /// A writer that could not seek leaves the size open: the samples last to the end.
    @Test(arguments: [0, 0xffff_ffff])
    func openSizesLastToTheEnd(size: Int) throws {
        let bytes = Self.wav(Self.format(tag: 1, bits: 16), Self.chunk("data", [UInt8](0..<22), size: size))
        let input = try PCMInput(InputReader(MemoryInput(bytes)), rawFormat: nil)
        #expect(try input.advance(frames: 4) == 4)
        #expect(input.samples == [UInt8](0..<16))
        // Six bytes are left: one frame and a half.
        #expect(try input.advance(frames: 4) == 1)
        #expect(input.samples == [16, 17, 18, 19])
        #expect(try input.advance(frames: 4) == 0)
    }

    /// Whoever announces more than there is has been stopped; a size that means "until the end" announces nothing.
    @Test(arguments: [
        (22, 22, nil), (40, 22, 2), (40, 20, 0), (0, 20, nil), (0, 22, 2), (0x7fff_ffff, 20, nil),
        (0x8000_0000, 20, nil), (0xffff_ffff, 20, nil),
    ])
    func cutShort(size: Int, present: Int, bytes: Int?) throws {
        let body = [UInt8](repeating: 1, count: present)
        let wav = Self.wav(Self.format(tag: 1, bits: 16), Self.chunk("data", body, size: size))
        let input = try PCMInput(InputReader(MemoryInput(wav)), rawFormat: nil)
        #expect(try (0..<4).map { _ in try input.advance(frames: 2) } == [2, 2, 1, 0])
        #expect(input.cutShortBytes == bytes)
    }

    /// RF64 has the size elsewhere; 0 stands for an unknown one.
    @Test(arguments: [
        (20, 20, nil, "RF64"), (0, 20, nil, "RF64"), (0, 22, 2, "BW64"), (5 << 32, 20, 0, "RF64"),
        (0x7fff_ffff, 22, 2, "RF64"),
    ])
    func longSizes(size: Int, present: Int, bytes: Int?, name: String) throws {
        let sizes = Self.u32(1) + Self.u32(0) + Self.u32(size & 0xffff_ffff) + Self.u32(size >> 32)
        let rf64 = Self.wav(
            Self.chunk("ds64", sizes + [UInt8](repeating: 0, count: 12)), Self.format(tag: 1, bits: 16),
            Self.chunk("data", [UInt8](repeating: 1, count: present), size: 0xffff_ffff), name: name)
        let input = try PCMInput(InputReader(MemoryInput(rf64)), rawFormat: nil)
        #expect(try (0..<4).map { _ in try input.advance(frames: 2) } == [2, 2, 1, 0])
        #expect(input.cutShortBytes == bytes)
    }

    @Test func chunksBehindTheSamplesAreNotSound() throws {
        let bytes = Self.wav(
            Self.format(tag: 1, bits: 16), Self.chunk("data", [1, 2, 3, 4]), Self.chunk("LIST", [9, 9, 9, 9]))
        let input = try PCMInput(InputReader(MemoryInput(bytes)), rawFormat: nil)
        #expect(try input.advance(frames: 100) == 1)
        #expect(try input.advance(frames: 100) == 0)
    }

    @Test func loopsBeginAgainBehindTheHeader() throws {
        let bytes = Self.wav(Self.format(tag: 1, bits: 16), Self.chunk("data", [1, 2, 3, 4, 5, 6, 7, 8]))
        let input = try PCMInput(InputReader(MemoryInput(bytes)), rawFormat: nil, loops: true)
        for _ in 0..<3 {
            #expect(try input.advance(frames: 1) == 1)
            #expect(input.samples == [1, 2, 3, 4])
            #expect(try input.advance(frames: 5) == 1)
            #expect(input.samples == [5, 6, 7, 8])
        }
    }

    @Test func rawSamplesNeedAFormat() throws {
        let format = AudioFormat(sampleRate: 8_000, channels: 1, encoding: .int16, isBigEndian: true)
        let input = try PCMInput(InputReader(MemoryInput([1, 2, 3, 4, 5])), rawFormat: format)
        #expect(input.format == format)
        #expect(try input.advance(frames: 10) == 2)
        #expect(try input.advance(frames: 10) == 0 && input.cutShortBytes == 1)
        #expect(throws: InputError.self) { try PCMInput(InputReader(MemoryInput([1])), rawFormat: nil) }
        let error = #expect(throws: InputError.self) { try PCMInput(InputReader(MemoryInput([])), rawFormat: format) }
        #expect(error?.description == "the audio input is empty")
        let planar = AudioFormat(sampleRate: 8_000, channels: 2, encoding: .int16, isInterleaved: false)
        #expect(throws: InputError.self) {
            try PCMInput(InputReader(MemoryInput([1])), rawFormat: planar)
        }
    }
}
