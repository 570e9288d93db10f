import IngestProtocol
import MediaCore
import Testing

/// What is not as it should be, and is taken all the same.
@Suite struct ToleranceTests {
    private func video(_ format: PixelFormat, width: Int = 64, height: Int = 32, patches: [(at: Int, byte: UInt8)] = [])
        throws -> VideoMessage
    {
        let layout = VideoSampleFormat(packed: format, width: width, height: height)
        let message = AnyMessage.video(VideoMessage(pts: .zero, format: layout, orientation: nil))
        var encoded = message.encoded(sequence: 0, payloadBytes: layout.minimumPayloadBytes)
        for patch in patches { encoded[patch.at] = patch.byte }
        guard case .video(let decoded) = try AnyMessage.decode(encoded).message else { throw Failure() }
        return decoded
    }
    private struct Failure: Error {}

    @Test(arguments: [
        (UInt8(0), OrientationTag?.none), (1, .up), (6, .right), (8, .left), (9, nil), (255, nil),
    ])
    func orientation(raw: UInt8, tag: OrientationTag?) throws {
        let decoded = try video(.i420, patches: [(36, raw)])
        #expect(decoded.orientation == tag && decoded.orientationRaw == raw)
    }

    /// Where matrix and range are not given, size and format say which are meant; NV12's range is in its name.
    @Test(arguments: [
        (PixelFormat.i420, 640, 480, UInt8(0), ColorMatrix.bt601, ColorRange.video),
        (.i420, 720, 576, 0, .bt601, .video),
        (.i420, 720, 578, 0, .bt709, .video), (.i420, 1280, 64, 0, .bt709, .video), (.i420, 64, 1280, 2, .bt709, .full),
        (.bgra, 64, 64, 0, .bt601, .full), (.bgra, 64, 64, 1, .bt601, .video),
        (.nv12VideoRange, 64, 64, 2, .bt601, .video),
        (.nv12FullRange, 64, 64, 1, .bt601, .full), (.nv12FullRange, 64, 64, 0, .bt601, .full),
        (.nv16FullRange, 64, 64, 1, .bt601, .full), (.p010VideoRange, 64, 64, 2, .bt601, .video),
        (.p010FullRange, 64, 64, 1, .bt601, .full), (.p210VideoRange, 64, 64, 2, .bt601, .video),
        (.p210FullRange, 64, 64, 0, .bt601, .full), (.nv16VideoRange, 64, 64, 2, .bt601, .video),
    ])
    func colorDefaults(
        format: PixelFormat, width: Int, height: Int, rangeByte: UInt8, matrix: ColorMatrix, range: ColorRange
    ) throws {
        let decoded = try video(format, width: width, height: height, patches: [(37, 0), (38, rangeByte)])
        #expect(decoded.format.color == ColorDescription(matrix: matrix, range: range))
    }

    /// Zero for the bytes of a packet or frame is derived, `packed` may be missing, non-mixable and high alignment say
    /// nothing where samples fill their containers.
    @Test(arguments: [
        [(40, UInt8(0))], [(48, 0)], [(40, 0), (48, 0)], [(36, 4)], [(36, 0x4c)], [(36, 0x1c)],
    ])
    func audioDescription(patches: [(at: Int, byte: UInt8)]) throws {
        let audio = AudioMessage(
            pts: .zero, format: AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16), frames: 10)
        var encoded = AnyMessage.audio(.microphone, audio).encoded(sequence: 0)
        for patch in patches { encoded[patch.at] = patch.byte }
        #expect(try AnyMessage.decode(encoded).message == .audio(.microphone, audio))
    }

    @Test func textsAreMadeFitForALog() throws {
        let name = "ok\u{1b}[2J\n\u{202e}end"
        var encoded = AnyMessage.annotated(
            AnnotatedMessage(key: "k", value: String(repeating: "x", count: name.utf8.count + 1))
        )
        .encoded(sequence: 0)
        encoded.replaceSubrange(21..<(21 + name.utf8.count), with: Array(name.utf8))
        encoded[21 + name.utf8.count] = 0xff
        guard case .annotated(let decoded) = try AnyMessage.decode(encoded).message else { throw Failure() }
        #expect(decoded.value == "ok\u{fffd}[2J\u{fffd}\u{fffd}end\u{fffd}")
    }

    @Test func textsAreCutAtWholeCharacters() {
        let message = StartedMessage(clientName: String(repeating: "語", count: 30), convention: .exif)
        #expect(message.clientName == String(repeating: "語", count: 21))
    }

    @Test func unknownMessagesMayHaveAPayload() throws {
        let header = try AnyMessage.decode(AnyMessage.unknown(0x33).encoded(sequence: 0, payloadBytes: 1 << 20)).header
        #expect(header.type == nil && header.payloadBytes == 1 << 20)
    }
}
