package import MediaCore

/// The header of a RIFF/WAVE stream, up to the first byte of its samples. It also reads RF64 (EBU Tech 3306) and BW64
/// (ITU-R BS.2088), which have 64-bit sizes.
package struct WAVHeader: Equatable, Sendable {
    package var format: AudioFormat
    /// The size of the samples; nil if the writer could not seek and left it open. The samples then last to the end.
    package var dataBytes: Int?
    /// Whether `dataBytes` is the size that the writer meant.
    package var isSizeCertain: Bool

    /// A size in the header from this value on is unknown: arecord, sox and GStreamer write such sizes to pipes.
    private static let unknownSize = 0x7fff_0000
    private static let maxFormatBytes = 256

    /// Reads chunks until the samples begin; skips chunks that are not needed.
    package init(_ reader: InputReader) throws(InputError) {
        let head = Array(try reader.peek(12))
        guard Self.isWAV(head), try reader.skip(12) else { throw InputError("not a WAV stream: no RIFF/WAVE header") }
        var format: AudioFormat?
        var longSize: Int?
        while true {
            let chunk = Array(try reader.peek(8))
            guard chunk.count == 8, try reader.skip(8) else {
                throw InputError("the WAV stream ends before its samples begin")
            }
            let size = Int(Self.u32(chunk, 4))
            if chunk.starts(with: Array("data".utf8)) {
                guard let format else { throw InputError("the WAV stream's samples come before their format") }
                self.format = format
                let isLong = size == 0xffff_ffff && longSize != nil
                dataBytes = isLong ? longSize : size == 0 || size >= 0xffff_0000 ? nil : size
                isSizeCertain = isLong || dataBytes.map { $0 < Self.unknownSize } ?? false
                return
            }
            if chunk.starts(with: Array("ds64".utf8)) {
                // The sizes of the file and of the samples. A writer that cannot seek leaves 0.
                let sizes = Array(try reader.peek(16))
                guard size >= 16, sizes.count == 16 else { throw InputError("the WAV stream ends inside its sizes") }
                longSize = Int(exactly: UInt64(Self.u32(sizes, 8)) | UInt64(Self.u32(sizes, 12)) << 32)
                if longSize == 0 { longSize = nil }
            }
            if chunk.starts(with: Array("fmt ".utf8)) {
                guard (16...Self.maxFormatBytes).contains(size) else {
                    throw InputError(
                        "the WAV format chunk has \(size) bytes; 16 to \(Self.maxFormatBytes) are expected")
                }
                let body = Array(try reader.peek(size))
                guard body.count == size else { throw InputError("the WAV stream ends inside its format") }
                format = try Self.format(body)
            }
            // Chunks are padded to an even length.
            guard try reader.skip(size + size & 1) else {
                throw InputError("the WAV stream ends before its samples begin")
            }
        }
    }

    /// Whether the first twelve bytes are those of a WAV stream.
    package static func isWAV(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes.count >= 12 && ["RIFF", "RF64", "BW64"].contains { bytes.starts(with: Array($0.utf8)) }
            && bytes[8...].starts(with: Array("WAVE".utf8))
    }

    /// Parses WAVEFORMATEX or WAVEFORMATEXTENSIBLE, whose sub-format begins with the format's number in two bytes.
    private static func format(_ body: [UInt8]) throws(InputError) -> AudioFormat {
        var tag = u16(body, 0)
        let channels = Int(u16(body, 2))
        let rate = Int(u32(body, 4))
        let blockBytes = Int(u16(body, 12))
        let bits = Int(u16(body, 14))
        if tag == 0xfffe {
            guard body.count >= 40 else { throw InputError("the extensible WAV format is cut short") }
            let validBits = Int(u16(body, 18))
            guard validBits == bits || validBits == 0 else {
                throw InputError("WAV samples with \(validBits) valid bits of \(bits) are not supported")
            }
            tag = u16(body, 24)
        }
        let encoding: PCMEncoding
        switch (tag, bits) {
        case (1, 16): encoding = .int16
        case (1, 24): encoding = .int24
        case (1, 32): encoding = .int32
        case (3, 32): encoding = .float32
        default:
            throw InputError(
                "WAV format \(tag) with \(bits) bits is not supported; 16, 24 and 32-bit PCM (1) and 32-bit float (3) "
                    + "are")
        }
        guard (1...8).contains(channels), (8_000...192_000).contains(rate) else {
            throw InputError("\(channels) channels at \(rate) Hz; 1 to 8 channels at 8000 to 192000 Hz can be sent")
        }
        let format = AudioFormat(sampleRate: rate, channels: channels, encoding: encoding)
        guard blockBytes == format.bytesPerFrame else {
            throw InputError("the WAV format says \(blockBytes) bytes a frame where \(format.bytesPerFrame) are right")
        }
        return format
    }

    private static func u16(_ bytes: [UInt8], _ at: Int) -> UInt16 { UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8 }
    private static func u32(_ bytes: [UInt8], _ at: Int) -> UInt32 {
        UInt32(u16(bytes, at)) | UInt32(u16(bytes, at + 2)) << 16
    }
}
