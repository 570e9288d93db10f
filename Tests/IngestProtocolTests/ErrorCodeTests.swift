import IngestProtocol
import MediaCore
import Testing

/// One damaged message for every error code that decoding can give.
@Suite struct ErrorCodeTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let code: ErrorCode
        let fatal: Bool
        /// Must appear in the sentence: the number that was wrong, or what would be right.
        let says: String
        let message: AnyMessage
        let payloadBytes: Int
        /// Bytes put over the encoded message, offsets from the header's first byte.
        let patches: [(at: Int, bytes: [UInt8])]
        var testDescription: String { "\(code): \(says)" }

        init(
            _ code: ErrorCode, fatal: Bool, _ says: String, _ message: AnyMessage, payload: Int = 0,
            _ patches: (at: Int, bytes: [UInt8])...
        ) {
            self.code = code
            self.fatal = fatal
            self.says = says
            self.message = message
            payloadBytes = payload
            self.patches = patches
        }
    }

    static let started = AnyMessage.started(StartedMessage(clientName: "test", convention: .exif))
    static let video = AnyMessage.video(
        VideoMessage(
            pts: .zero, format: VideoSampleFormat(packed: .i420, width: 64, height: 32), orientation: .up))
    static let videoBytes = 64 * 32 * 3 / 2
    static let audio = AnyMessage.audio(
        .app,
        AudioMessage(pts: .zero, format: AudioFormat(sampleRate: 48_000, channels: 2, encoding: .int16), frames: 480))
    static let audioBytes = 1920
    static let annotated = AnyMessage.annotated(AnnotatedMessage(key: "key", value: "value"))
    static let finished = AnyMessage.finished(FinishedMessage(reason: .userStopped, text: "done"))
    static let unknown = AnyMessage.unknown(0x30)

    static func littleEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    static func float64(_ value: Double) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
    }

    static let cases: [Case] = [
        Case(.badMagic, fatal: true, "0x47 0x45", started, (0, Array("GE".utf8))),
        Case(.unsupportedVersion, fatal: true, "version 2", started, (2, [2])),
        Case(.unsupportedVersion, fatal: true, "versions 2 to 3", started, (16, [2, 3])),
        Case(.unsupportedVersion, fatal: true, "versions 1 to 0", started, (16, [1, 0])),
        Case(.bodyTooLarge, fatal: true, "4097 bytes; at most 4096", started, (4, [0x01, 0x10])),
        Case(.payloadTooLarge, fatal: true, "83886081 bytes; at most 83886080", video, (8, littleEndian(80 << 20 + 1))),
        Case(.payloadTooLarge, fatal: true, "524289", audio, (8, littleEndian(512 << 10 + 1))),
        Case(.payloadTooLarge, fatal: true, "this message has none", finished, (8, [1])),
        Case(.payloadTooLarge, fatal: true, "0x30: a payload of 4294967295", unknown, (8, littleEndian(.max))),
        Case(.unknownCriticalMessage, fatal: true, "0x30", unknown, (6, [1, 0])),
        Case(.malformedBody, fatal: true, "27 bytes; its fixed fields take 28", started, (4, [27, 0])),
        Case(.malformedBody, fatal: true, "65 bytes; at most 64", started, (40, [65, 0])),
        Case(.malformedBody, fatal: true, "a body of 36 bytes, but it has 32", started, (40, [5, 0])),
        Case(
            .malformedBody, fatal: false, "51 bytes; its fixed fields take 52", video, payload: videoBytes,
            (4, [51, 0])),
        Case(.malformedBody, fatal: false, "fixed fields take 52", audio, payload: audioBytes, (4, [0, 0])),
        Case(.malformedBody, fatal: false, "the key is empty", annotated, (16, [0, 0])),
        Case(.malformedBody, fatal: false, "value has 1025 bytes", annotated, (18, [1, 4])),
        Case(.malformedBody, fatal: true, "body of 1028 bytes", finished, (18, [0, 4])),
        Case(.orientationConvention, fatal: true, "the orientation convention is missing", started, (18, [0])),
        Case(.orientationConvention, fatal: true, "wrong guess", started, (18, [0])),
        Case(.orientationConvention, fatal: true, "convention 3 does not exist", started, (18, [3])),

        Case(.unsupportedPixelFormat, fatal: false, "RV24", video, payload: videoBytes, (32, Array("RV24".utf8))),
        Case(.unsupportedPixelFormat, fatal: false, "0x1020304", video, payload: videoBytes, (32, [1, 2, 3, 4])),
        Case(.badPictureSize, fatal: false, "15x32", video, payload: videoBytes, (24, [15])),
        Case(.badPictureSize, fatal: false, "64x0", video, payload: videoBytes, (28, [0])),
        Case(.badPictureSize, fatal: false, "4097x32", video, payload: videoBytes, (24, [1, 0x10])),
        Case(.badPictureSize, fatal: false, "64x4294967295", video, payload: videoBytes, (28, littleEndian(.max))),
        Case(.badPlaneLayout, fatal: false, "has 3 planes, not 2", video, payload: videoBytes, (39, [2])),
        Case(
            .badPlaneLayout, fatal: false, "stride of 64 to 65536 bytes, not 63", video, payload: videoBytes, (44, [63])
        ),
        Case(.badPlaneLayout, fatal: false, "not 65537", video, payload: videoBytes, (44, littleEndian(65_537))),
        Case(
            .badPlaneLayout, fatal: false, "plane 1 starts at 2047", video, payload: videoBytes,
            (48, littleEndian(2047))),
        Case(.planeOutsidePayload, fatal: false, "plane 2 ends at 3072", video, payload: videoBytes - 1),
        Case(
            .planeOutsidePayload, fatal: false, "plane 0 ends at 4294967295", video, payload: videoBytes,
            (40, littleEndian(.max - 2048 + 0))),
        Case(.badColor, fatal: false, "matrix 5", video, payload: videoBytes, (37, [5])),
        Case(.badColor, fatal: false, "range 3", video, payload: videoBytes, (38, [3])),

        Case(.unsupportedAudioFormat, fatal: false, "aac ", audio, payload: audioBytes, (32, Array("aac ".utf8))),
        Case(.unsupportedAudioFormat, fatal: false, "7999.0 Hz", audio, payload: audioBytes, (24, float64(7999))),
        Case(.unsupportedAudioFormat, fatal: false, "192001.0", audio, payload: audioBytes, (24, float64(192_001))),
        Case(.unsupportedAudioFormat, fatal: false, "44100.5", audio, payload: audioBytes, (24, float64(44_100.5))),
        Case(.unsupportedAudioFormat, fatal: false, "nan", audio, payload: audioBytes, (24, float64(.nan))),
        Case(.unsupportedAudioFormat, fatal: false, "inf", audio, payload: audioBytes, (24, float64(.infinity))),
        Case(.unsupportedAudioFormat, fatal: false, "0 channels", audio, payload: audioBytes, (52, [0])),
        Case(.unsupportedAudioFormat, fatal: false, "9 channels; 1 to 8", audio, payload: audioBytes, (52, [9])),
        Case(.unsupportedAudioFormat, fatal: false, "8-bit integers", audio, payload: audioBytes, (56, [8])),
        Case(.unsupportedAudioFormat, fatal: false, "64-bit float", audio, payload: audioBytes, (36, [9]), (56, [64])),
        Case(.unsupportedAudioFormat, fatal: false, "unsigned", audio, payload: audioBytes, (36, [8])),
        Case(
            .unsupportedAudioFormat, fatal: false, "four-byte containers", audio, payload: audioBytes,
            (36, [0x14]), (40, [8]), (48, [8]), (56, [24])),
        Case(.unsupportedAudioFormat, fatal: false, "0xc00", audio, payload: audioBytes, (36, littleEndian(0x0c0c))),
        Case(
            .inconsistentAudioFormat, fatal: false, "both float (1)", audio, payload: audioBytes, (36, [13])),
        Case(.inconsistentAudioFormat, fatal: false, "2 bytes per frame", audio, payload: audioBytes, (48, [2])),
        Case(
            .inconsistentAudioFormat, fatal: false, "one channel in its own plane are 2", audio, payload: audioBytes,
            (36, [0x2c])),
        Case(.inconsistentAudioFormat, fatal: false, "8 bytes per packet", audio, payload: audioBytes, (40, [8])),
        Case(.inconsistentAudioFormat, fatal: false, "2 frames per packet", audio, payload: audioBytes, (44, [2])),
        Case(.audioPayloadMismatch, fatal: false, "without frames", audio, payload: audioBytes, (64, [0, 0])),
        Case(
            .audioPayloadMismatch, fatal: false, "481 frames of 4 bytes are 1924 bytes, but the payload has 1920",
            audio,
            payload: audioBytes, (64, littleEndian(481))),
        Case(.audioPayloadMismatch, fatal: false, "17179869180", audio, payload: audioBytes, (64, littleEndian(.max))),
    ]

    /// The value of extension 1, which lies about itself in one way each.
    @Test(arguments: [
        ([], "0 bytes are too few"), ([0, 0, 0], "3 bytes are too few"), ([1, 0, 0, 0], "1 rectangles take 20 bytes"),
        ([0, 0, 0, 0, 7], "0 rectangles take 4 bytes, not 5"), ([65, 0, 0, 0], "65 rectangles; at most 64"),
        ([0, 0, 2, 0], "flags 2 are unknown"), ([255, 255, 0, 0], "65535 rectangles"),
    ] as [([UInt8], String)])
    func regionsThatLie(value: [UInt8], says: String) {
        var encoded = Self.video.encoded(sequence: 0, payloadBytes: Self.videoBytes)
        appendExtension(tag: 0x8001, value, to: &encoded)
        let error = #expect(throws: ProtocolError.self) { try AnyMessage.decode(encoded) }
        #expect(error?.code == .badSecureRegions && error?.isFatal == false)
        #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
    }

    /// Whatever else is wrong with the picture, its list of regions comes first.
    @Test(arguments: [0, Self.videoBytes - 1]) func regionsThatLieComeFirst(payloadBytes: Int) {
        var encoded = Self.video.encoded(sequence: 0, payloadBytes: payloadBytes)
        appendExtension(tag: 0x8001, [0, 0, 2, 0], to: &encoded)
        let error = #expect(throws: ProtocolError.self) { try AnyMessage.decode(encoded) }
        #expect(error?.code == .badSecureRegions && error?.isFatal == false)
    }

    @Test(arguments: cases)
    func isReported(_ item: Case) {
        var encoded = item.message.encoded(sequence: 0, payloadBytes: item.payloadBytes)
        for patch in item.patches {
            encoded.replaceSubrange(patch.at..<(patch.at + patch.bytes.count), with: patch.bytes)
        }
        let error = #expect(throws: ProtocolError.self) { try AnyMessage.decode(encoded) }
        #expect(error?.code == item.code)
        #expect(error?.isFatal == item.fatal)
        #expect(error?.message.contains(item.says) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        (audio, audioBytes, UInt16(0x8001), "secure regions"), (audio, audioBytes, 0x8002, "shared memory"),
        (audio, audioBytes, 1, "secure regions"), (audio, audioBytes, 2, "shared memory"),
        (video, videoBytes, 0x8003, "0x8003"),
        (audio, audioBytes, 0xffff, "0xffff"), (annotated, 0, 0x8100, "0x8100"),
        (started, 0, 0x8100, "0x8100"), (finished, 0, 0x8100, "0x8100"), (.bare(.paused), 0, 0x8004, "0x8004"),
    ])
    func criticalExtensionsAreRefused(message: AnyMessage, payloadBytes: Int, tag: UInt16, says: String) {
        var encoded = message.encoded(sequence: 0, payloadBytes: payloadBytes)
        appendExtension(tag: 9, [1, 2, 3], to: &encoded)
        appendExtension(tag: tag, [1, 2, 3, 4, 5], to: &encoded)
        let error = #expect(throws: ProtocolError.self) { try AnyMessage.decode(encoded) }
        #expect(error?.code == .unsupportedExtension)
        #expect(error?.isFatal == (message == Self.started || message == Self.finished))
        #expect(error?.message.contains(says) == true)
    }

    @Test(arguments: [[9], [9, 0, 1, 0], [9, 0, 5, 0, 1, 2, 3, 4], [9, 0, 0xff, 0xff], [0, 0, 0]] as [[UInt8]])
    func extensionsMustFillTheBody(tail: [UInt8]) {
        var encoded = Self.video.encoded(sequence: 0, payloadBytes: Self.videoBytes)
        encoded += tail
        encoded[4] = UInt8(encoded.count - MessageHeader.byteCount)
        let error = #expect(throws: ProtocolError.self) { try AnyMessage.decode(encoded) }
        #expect(error?.code == .malformedExtension && error?.isFatal == false)
    }

    /// Damage that is not what it says, or not in the picture of 64x32 pixels, is refused with it.
    @Test(arguments: [
        ([1], "too few"), ([0, 0, 0, 0, 0, 0, 0, 0], "0 rectangles"), ([0, 0, 0, 0, 17, 0, 0, 0], "17 rectangles"),
        ([0, 0, 0, 0, 1, 0, 0, 0], "16 bytes, not 8"),
        ([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 64, 0, 32, 0, 0], "16 bytes, not 17"),
        ([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 65, 0, 32, 0], "rectangle 0"),
        ([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 64, 0, 32, 0], "rectangle 0"),
        ([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 31, 0, 64, 0, 2, 0], "rectangle 0"),
        ([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0], "rectangle 0"),
        ([0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 64, 0, 32, 0, 255, 255, 255, 255, 255, 255, 255, 255], "rectangle 1"),
    ] as [([UInt8], String)])
    func damageMustLieInThePicture(value: [UInt8], says: String) {
        var encoded = Self.video.encoded(sequence: 0, payloadBytes: Self.videoBytes)
        appendExtension(tag: 3, value, to: &encoded)
        let error = #expect(throws: ProtocolError.self) { try AnyMessage.decode(encoded) }
        #expect(error?.code == .malformedExtension && error?.isFatal == false)
        #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
    }

    @Test func damageIsRead() throws {
        var encoded = Self.video.encoded(sequence: 0, payloadBytes: Self.videoBytes)
        appendExtension(tag: 3, [7, 0, 0, 0x80, 1, 0, 9, 9, 1, 0, 2, 0, 63, 0, 30, 0], to: &encoded)
        guard case .video(let message) = try AnyMessage.decode(encoded).message else { return }
        #expect(message.damage?.since == 0x8000_0007 && message.damage?.damage.count == 1)
        #expect(message.damage?.damage[0] == .init(x: 1, y: 2, width: 63, height: 30))
    }

    /// Codes that decoding does not give are the connection's own.
    @Test func everyCodeIsCovered() {
        let decoded = Set(Self.cases.map(\.code))
        let elsewhere: Set<ErrorCode> = [
            .sequenceGap, .unexpectedMessage, .malformedExtension, .unsupportedExtension, .busy, .truncated, .timedOut,
            .shuttingDown, .broadcastFailed, .badSharedMemory, .sampleOverwritten, .unknownPicture,
            .badSecureRegions,
        ]
        #expect(decoded.union(elsewhere) == Set(ErrorCode.allCases))
        #expect(decoded.isDisjoint(with: elsewhere))
    }
}
